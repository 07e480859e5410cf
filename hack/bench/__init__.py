"""`make bench`: what Fairway costs and how fast it is, measured; each part writes `.bench/<name>.json`."""
