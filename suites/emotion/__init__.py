"""The emotion suite: are emotions read as well in alexithymic as in neurotypical voices?"""
