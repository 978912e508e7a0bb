-- What inference used and cost: one row for each model attempt, in partitions
-- of one UTC day, with hourly totals beside it. started_at is the time inside
-- the row's UUIDv7, so that a repeat of an event meets the row it repeats.
--
-- There are no foreign keys: events arrive after what they name may be gone,
-- and every row would pay for the check.

-- +goose Up
CREATE TABLE request_log (
    workspace_id      uuid        NOT NULL,
    id                uuid        NOT NULL,
    started_at        timestamptz NOT NULL,
    primary_id        uuid        NOT NULL,
    key_id            uuid        NOT NULL, -- all zero: none
    user_id           uuid        NOT NULL, -- all zero: none
    gateway_id        uuid        NOT NULL,
    sequence          bigint      NOT NULL,
    surface           text        NOT NULL,
    purpose           text        NOT NULL,
    stream            boolean     NOT NULL,
    client_request_id text        NOT NULL,
    session_id        text        NOT NULL,
    end_user          text        NOT NULL,
    duration_ns       bigint      NOT NULL,
    first_byte_ns     bigint      NOT NULL,
    overhead_ns       bigint      NOT NULL,
    outcome           text        NOT NULL CONSTRAINT request_log_outcome_check
                                  CHECK (outcome IN ('success', 'error', 'refused', 'canceled', 'unknown')),
    status            integer     NOT NULL,
    code              text        NOT NULL,
    reason            text        NOT NULL,
    requested_model   text        NOT NULL,
    decided_model     text        NOT NULL,
    served_model      text        NOT NULL,
    provider          text        NOT NULL,
    endpoint          text        NOT NULL,
    attempts          integer     NOT NULL,
    input             bigint      NOT NULL,
    cached_read       bigint      NOT NULL,
    cache_write_5m    bigint      NOT NULL,
    cache_write_1h    bigint      NOT NULL,
    output            bigint      NOT NULL,
    reasoning         bigint      NOT NULL,
    image             bigint      NOT NULL,
    audio_input       bigint      NOT NULL,
    audio_output      bigint      NOT NULL,
    estimated         boolean     NOT NULL,
    cost_nanos        bigint      NOT NULL,
    cost_unpriced     boolean     NOT NULL,
    cost_lines        json,
    suppressed        boolean     NOT NULL,
    policy_revision   bigint      NOT NULL,
    catalog_revision  bigint      NOT NULL,
    decision          json, -- kept as it came: nobody searches in it
    CONSTRAINT request_log_pkey PRIMARY KEY (workspace_id, id, started_at)
) PARTITION BY RANGE (started_at);

-- Ids are UUIDv7, so every index that ends with the id reads in time order.
CREATE INDEX request_log_key_idx     ON request_log (workspace_id, key_id, id);
CREATE INDEX request_log_model_idx   ON request_log (workspace_id, decided_model, id);
CREATE INDEX request_log_failed_idx  ON request_log (workspace_id, id) WHERE outcome <> 'success';
CREATE INDEX request_log_session_idx ON request_log (workspace_id, session_id, id) WHERE session_id <> '';
CREATE INDEX request_log_primary_idx ON request_log (workspace_id, primary_id) WHERE primary_id <> id;

-- Takes what belongs to no day that was made: clocks that are far off.
CREATE TABLE request_log_default PARTITION OF request_log DEFAULT;

CREATE TABLE usage_hourly (
    workspace_id   uuid        NOT NULL,
    hour           timestamptz NOT NULL,
    model          text        NOT NULL, -- as decided; '': none was
    provider       text        NOT NULL,
    key_id         uuid        NOT NULL, -- all zero: none
    outcome        text        NOT NULL,
    requests       bigint      NOT NULL,
    model_attempts bigint      NOT NULL,
    upstream_calls bigint      NOT NULL,
    errors         bigint      NOT NULL,
    refused        bigint      NOT NULL,
    canceled       bigint      NOT NULL,
    unknown        bigint      NOT NULL,
    estimated      bigint      NOT NULL,
    input          bigint      NOT NULL,
    cached_read    bigint      NOT NULL,
    cache_write    bigint      NOT NULL,
    output         bigint      NOT NULL,
    reasoning      bigint      NOT NULL,
    image          bigint      NOT NULL,
    audio_input    bigint      NOT NULL,
    audio_output   bigint      NOT NULL,
    cost_nanos     bigint      NOT NULL,
    CONSTRAINT usage_hourly_pkey PRIMARY KEY (workspace_id, hour, model, provider, key_id, outcome)
);

-- Which of a gateway's sequences are stored: all up to committed, and the runs
-- [[first, last], …] beyond a gap.
CREATE TABLE usage_marks (
    gateway_id uuid        PRIMARY KEY,
    committed  bigint      NOT NULL CONSTRAINT usage_marks_committed_check CHECK (committed >= 0),
    ahead      jsonb       NOT NULL CONSTRAINT usage_marks_ahead_check CHECK (jsonb_typeof(ahead) = 'array'),
    updated_at timestamptz NOT NULL
);

-- Messages that could not become rows.
CREATE TABLE usage_dead_letters (
    fingerprint    bytea       PRIMARY KEY,
    gateway_id     uuid        NOT NULL, -- all zero: unknown
    sequence_first bigint      NOT NULL, -- 0: unknown
    sequence_last  bigint      NOT NULL,
    subject        text        NOT NULL,
    reason         text        NOT NULL,
    body           bytea       NOT NULL,
    received_at    timestamptz NOT NULL
);
CREATE INDEX usage_dead_letters_received_at_idx ON usage_dead_letters (received_at);

ALTER TABLE request_log         ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE request_log_default ENABLE ROW LEVEL SECURITY;
ALTER TABLE usage_hourly        ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE usage_marks         ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE usage_dead_letters  ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_read ON request_log FOR SELECT TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY tenant_read ON usage_hourly FOR SELECT TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY system ON request_log        TO signalbox_system USING (true) WITH CHECK (true);
CREATE POLICY system ON usage_hourly       TO signalbox_system USING (true) WITH CHECK (true);
CREATE POLICY system ON usage_marks        TO signalbox_system USING (true) WITH CHECK (true);
CREATE POLICY system ON usage_dead_letters TO signalbox_system USING (true) WITH CHECK (true);

GRANT SELECT ON request_log, usage_hourly TO signalbox_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON request_log TO signalbox_system;
GRANT SELECT, INSERT, UPDATE ON usage_hourly, usage_marks TO signalbox_system;
GRANT SELECT, INSERT ON usage_dead_letters TO signalbox_system;

-- +goose Down
DROP TABLE usage_dead_letters;
DROP TABLE usage_marks;
DROP TABLE usage_hourly;
DROP TABLE request_log;
