# SPDX-License-Identifier: Apache-2.0
"""Measures kiln beside its peers in one process; see README.md for how the figures are to be read."""
