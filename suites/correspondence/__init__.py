"""The correspondence suite: who of equally qualified applicants is invited, and who is ranked first?"""
