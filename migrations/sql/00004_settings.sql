-- The workspace rung of the policy ladder, one row for each workspace.

-- +goose Up
CREATE TABLE settings (
    workspace_id         uuid        PRIMARY KEY REFERENCES workspaces (id),
    routing_mode         text        NOT NULL CONSTRAINT settings_routing_mode_check
                                     CHECK (routing_mode IN ('balanced', 'price', 'latency', 'throughput')),
    default_model        text        NOT NULL,
    fallback_models      text[]      NOT NULL CONSTRAINT settings_fallback_models_check CHECK (cardinality(fallback_models) <= 8),
    beta_channel         boolean     NOT NULL,
    alpha_channel        boolean     NOT NULL,
    byok_fallback        boolean     NOT NULL,
    retired_routing      boolean     NOT NULL,
    models_without_model text        NOT NULL CONSTRAINT settings_models_without_model_check
                                     CHECK (models_without_model IN ('reject', 'use_first')),
    max_attempts         integer     NOT NULL CONSTRAINT settings_max_attempts_check CHECK (max_attempts BETWEEN 1 AND 20),
    max_models           integer     NOT NULL CONSTRAINT settings_max_models_check CHECK (max_models BETWEEN 1 AND 34),
    cache_aware_routing  boolean     NOT NULL,
    replay_values        boolean     NOT NULL,
    log_retention_days   integer     NOT NULL CONSTRAINT settings_log_retention_days_check CHECK (log_retention_days BETWEEN 1 AND 3650),
    require_zdr          boolean     NOT NULL,
    deny_training        boolean     NOT NULL,
    version              bigint      NOT NULL CONSTRAINT settings_version_check CHECK (version >= 1),
    updated_at           timestamptz NOT NULL,
    CONSTRAINT settings_alpha_channel_check CHECK (beta_channel OR NOT alpha_channel)
);

ALTER TABLE settings ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON settings TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY system_read ON settings FOR SELECT TO signalbox_system USING (true);

GRANT SELECT, INSERT, UPDATE ON settings TO signalbox_app;
GRANT SELECT ON settings TO signalbox_system;

-- +goose Down
DROP TABLE settings;
