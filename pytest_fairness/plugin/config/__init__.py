"""Options, keys of the ini file, and the settings of a run that follow from them."""
