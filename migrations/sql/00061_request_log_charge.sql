-- What a request is charged to the wallet, beside what it costs, and what it
-- counts toward beside its key and workspace. A row that is replaced is taken
-- back from all of that.
--
-- request_log_kept says from when on a workspace's log is whole: what is older
-- was deleted, so that sums over it mean nothing. The row of the zero id holds
-- for every workspace.

-- +goose Up
ALTER TABLE request_log
    ADD COLUMN charge_nanos bigint  NOT NULL DEFAULT 0,
    ADD COLUMN departments  uuid[]  NOT NULL DEFAULT '{}',
    ADD COLUMN guardrails   uuid[]  NOT NULL DEFAULT '{}',
    ADD COLUMN agent        text    NOT NULL DEFAULT '',
    ADD COLUMN free         boolean NOT NULL DEFAULT false;
ALTER TABLE usage_hourly ADD COLUMN charge_nanos bigint NOT NULL DEFAULT 0;

CREATE TABLE request_log_kept (
    workspace_id uuid        PRIMARY KEY,
    since        timestamptz NOT NULL
);
ALTER TABLE request_log_kept ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY system ON request_log_kept TO signalbox_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON request_log_kept TO signalbox_system;

-- Until now nothing said what was deleted. No retention is shorter than a day.
INSERT INTO request_log_kept (workspace_id, since)
SELECT '00000000-0000-0000-0000-000000000000', date_trunc('hour', now() - interval '22 hours', 'UTC')
WHERE EXISTS (SELECT FROM usage_marks);

-- +goose Down
DROP TABLE request_log_kept;
ALTER TABLE usage_hourly DROP COLUMN charge_nanos;
ALTER TABLE request_log DROP COLUMN charge_nanos, DROP COLUMN departments, DROP COLUMN guardrails, DROP COLUMN agent, DROP COLUMN free;
