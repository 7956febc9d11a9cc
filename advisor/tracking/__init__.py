"""Change points over nights: pure functions over arrays, without a database.

``scan`` is the detector. This module imports nothing, so that who needs its words alone
(``records``) does not load numpy.
"""
