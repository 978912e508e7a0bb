module github.com/signalbox-dev/signalbox/test

go 1.26.6

require (
	github.com/signalbox-dev/signalbox/cmd/signalbox v0.0.0
	github.com/signalbox-dev/signalbox/controlplane v0.0.0
	github.com/signalbox-dev/signalbox/dataplane v0.0.0
	github.com/signalbox-dev/signalbox/migrations v0.0.0
	github.com/signalbox-dev/signalbox/shared v0.0.0
	github.com/signalbox-dev/signalbox/shared/testkit v0.0.0
)

require (
	github.com/antithesishq/antithesis-sdk-go v0.9.0-default-no-op // indirect
	github.com/coder/websocket v1.8.15 // indirect
	github.com/google/go-tpm v0.9.8 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.13.0 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
	github.com/minio/highwayhash v1.0.4 // indirect
	github.com/nats-io/jwt/v2 v2.8.3 // indirect
	github.com/nats-io/nats-server/v2 v2.15.3 // indirect
	github.com/nats-io/nats.go v1.55.0 // indirect
	github.com/nats-io/nkeys v0.4.17 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	github.com/openai/openai-go/v3 v3.98.0 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
	github.com/tidwall/gjson v1.20.3 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.3.0 // indirect
	github.com/tidwall/sjson v1.2.9 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.44.0 // indirect
	golang.org/x/time v0.16.0 // indirect
)

replace github.com/signalbox-dev/signalbox/shared => ../shared

replace github.com/signalbox-dev/signalbox/shared/testkit => ../shared/testkit

replace github.com/signalbox-dev/signalbox/migrations => ../migrations

replace github.com/signalbox-dev/signalbox/controlplane => ../controlplane

replace github.com/signalbox-dev/signalbox/dataplane => ../dataplane

replace github.com/signalbox-dev/signalbox/cmd/signalbox => ../cmd/signalbox
