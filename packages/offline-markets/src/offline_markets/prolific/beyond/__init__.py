"""What goes beyond recruiting, judging and paying: a first reading can leave it out.

Surveys, credentials, exports of participants, filter sets, studies with several pages,
signed addresses, uploads, older fields, and the task builder. piecework calls none of it.
"""
