"""The terms of the field as frozen values; it imports no other room of piecework."""
