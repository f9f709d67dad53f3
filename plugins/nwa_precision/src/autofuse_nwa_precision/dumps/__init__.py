"""Dump folders and dump files: names, the index of a folder, npy and raw dump files, and the meaning of their bytes."""
