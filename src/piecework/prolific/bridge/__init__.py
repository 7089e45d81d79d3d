"""The bridge: a marketplace whose workers are Prolific's participants.

What requesters want stands in the marketplace's tables, written with the call that
wanted it; nothing has to be told to the bridge, and nothing can be forgotten. A step
reads what is wanted and what is so at Prolific, and makes one call for each difference.
Each call that cannot be taken back is written down before it leaves.
"""
