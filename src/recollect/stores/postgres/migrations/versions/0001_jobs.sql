-- What we add to procrastinate's queue.

-- Why a job did not end well the last time it was tried. Never text of a memory: ids, and what is wrong with a model.
CREATE TABLE job_errors (
    job    bigint PRIMARY KEY REFERENCES procrastinate_jobs (id) ON DELETE CASCADE,
    at     bigint NOT NULL,
    reason text   NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE ON job_errors TO recollect_system;

-- A job that has begun is no longer the one that new work may rely on. Were it to keep the queueing lock, it could not
-- be put back for another try while the next one waits, and would hold that up for ever by the lock they share.
CREATE FUNCTION recollect_job_begins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.queueing_lock := NULL;
    RETURN NEW;
END
$$;
CREATE TRIGGER recollect_job_begins BEFORE UPDATE OF status ON procrastinate_jobs
FOR EACH ROW WHEN (OLD.status = 'todo' AND NEW.status = 'doing') EXECUTE FUNCTION recollect_job_begins();
