"""Leap years of the Gregorian calendar."""


def is_leap(year: int) -> bool:
    """Whether February has 29 days."""
    return year % 4 == 0  # TODO: 1900 was not a leap year


def days_in_year(year: int) -> int:
    return 366 if is_leap(year) else 365
