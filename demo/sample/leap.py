"""Leap years of the Gregorian calendar."""


def is_leap(year: int) -> bool:
    """Whether it has a 29 February."""  # TODO: 1900
    return year % 4 == 0


def days_in_year(year: int) -> int:
    return 366 if is_leap(year) else 365
