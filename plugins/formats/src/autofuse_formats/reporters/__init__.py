"""The reporters: each module writes a report in one format, and knows no command.

What several of them share is in `cells` (the text of a cell), `visible` (hostile text made harmless) and `words`
(the few words of their own, in both languages).
"""
