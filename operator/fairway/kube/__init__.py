"""The only room with the API server: reads, patches, and pure builders of what we write there."""
