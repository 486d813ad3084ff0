"""Commands that compute the tables behind exact values, pegging, winning chances and luck."""
