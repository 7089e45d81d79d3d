"""Ids of the qualification types that the marketplace itself computes for workers."""

MASTERS_SANDBOX = "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"
MASTERS_PRODUCTION = "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"
MASTERS = (MASTERS_SANDBOX, MASTERS_PRODUCTION)
NUMBER_APPROVED = "00000000000000000040"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
PERCENT_APPROVED = "000000000000000000L0"

NOT_REQUESTABLE, NOT_SHOWN = "not-requestable", "not-shown"
"""Keywords of types that workers cannot request, and of those they do not see at all.

MTurk has no member for either; there, they are words to search for.
"""

SHOWN = (
    f"instr(coalesce(qualification_types.keywords, ''), '{NOT_SHOWN}') = 0 "
    "AND (qualification_types.test IS NOT NULL OR qualification_types.auto_granted = 1 "
    "OR NOT EXISTS (SELECT 1 FROM hit_type_qualifications AS requiring "
    "WHERE requiring.qualification_type = qualification_types.id) "
    "OR EXISTS (SELECT 1 FROM hit_type_qualifications AS requiring "
    "JOIN hit_types ON hit_types.id = requiring.hit_type, "
    "json_each(hit_types.requirements) AS requirement "
    "WHERE requiring.qualification_type = qualification_types.id "
    "AND requirement.value ->> 'QualificationTypeId' "
    "= qualification_types.qualification_type_id "
    "AND requirement.value ->> 'Comparator' <> 'DoesNotExist'))"
)
"""The condition of types that workers see: not those that only keep them out."""
