# SPDX-License-Identifier: Apache-2.0
"""One module a peer. Each builds entries for a case, or raises Unavailable with the reason."""
