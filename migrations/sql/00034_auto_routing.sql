-- How signalbox/auto chooses for a workspace. Most have no row: that is the
-- default, at version 1, so that the first change makes version 2.

-- +goose Up
CREATE TABLE auto_routing (
    workspace_id    uuid        PRIMARY KEY REFERENCES workspaces (id),
    objective       text        NOT NULL CONSTRAINT auto_routing_objective_check
                                CHECK (objective IN ('balanced', 'quality', 'cost', 'latency')),
    spend_profile   text        NOT NULL CONSTRAINT auto_routing_spend_profile_check
                                CHECK (spend_profile IN ('economy', 'standard', 'premium', 'any', 'custom')),
    input_price     bigint      CONSTRAINT auto_routing_input_price_check CHECK (input_price >= 0), -- nano-USD per million tokens
    output_price    bigint      CONSTRAINT auto_routing_output_price_check CHECK (output_price >= 0),
    models          text[]      NOT NULL CONSTRAINT auto_routing_models_check CHECK (cardinality(models) <= 16),
    allow_fallbacks boolean     NOT NULL,
    version         bigint      NOT NULL CONSTRAINT auto_routing_version_check CHECK (version >= 2),
    updated_at      timestamptz NOT NULL,
    CONSTRAINT auto_routing_prices_check
        CHECK ((spend_profile = 'custom') = (input_price IS NOT NULL) AND (input_price IS NULL) = (output_price IS NULL))
);

ALTER TABLE auto_routing ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON auto_routing TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE ON auto_routing TO signalbox_app;

-- +goose Down
DROP TABLE auto_routing;
