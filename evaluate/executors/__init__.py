"""Work past one machine: the same digits on Ray, Dask, submitit, or any executor of ``concurrent.futures``."""
