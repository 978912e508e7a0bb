-- What requests were charged to the wallet, in the hourly totals as in the log,
-- and from when on a workspace's log is whole: what is older was deleted, so that
-- sums over it mean nothing. The row of the zero id holds for every workspace.

-- +goose Up
ALTER TABLE usage_hourly ADD COLUMN charge_nanos bigint NOT NULL DEFAULT 0;

CREATE TABLE request_log_kept (
    workspace_id uuid        PRIMARY KEY,
    since        timestamptz NOT NULL
);

-- Until now nothing said what was deleted, nor was all of it counted: what is
-- compared begins with the next day.
-- The owner of the table looks into it for that, and is held to the policies again.
ALTER TABLE usage_marks NO FORCE ROW LEVEL SECURITY;
INSERT INTO request_log_kept (workspace_id, since)
SELECT '00000000-0000-0000-0000-000000000000', date_trunc('day', now() + interval '1 day', 'UTC')
WHERE EXISTS (SELECT FROM usage_marks);
ALTER TABLE usage_marks FORCE ROW LEVEL SECURITY;

ALTER TABLE request_log_kept ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY system ON request_log_kept TO signalbox_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON request_log_kept TO signalbox_system;

-- +goose Down
DROP TABLE request_log_kept;
ALTER TABLE usage_hourly DROP COLUMN charge_nanos;
