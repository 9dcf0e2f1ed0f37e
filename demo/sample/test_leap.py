"""Run with: python3 -m unittest"""

import unittest

from leap import days_in_year, is_leap


class LeapTest(unittest.TestCase):
    def test_every_fourth_year(self) -> None:
        self.assertTrue(is_leap(2024))
        self.assertFalse(is_leap(2023))

    def test_length(self) -> None:
        self.assertEqual(days_in_year(2024), 366)
