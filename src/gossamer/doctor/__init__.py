"""`gossamer doctor`: what a machine and its settings lack for Gossamer to work well, and how each is fixed.

Code of authors runs only in a child process (`child.py`): whatever it does there, the doctor goes on.
"""
