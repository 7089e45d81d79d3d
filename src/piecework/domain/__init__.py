"""The words of the field as frozen values; imports nothing of ours."""
