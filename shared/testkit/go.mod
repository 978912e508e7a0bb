module github.com/signalbox-dev/signalbox/shared/testkit

go 1.26.6

require (
	github.com/signalbox-dev/signalbox/migrations v0.0.0
	github.com/signalbox-dev/signalbox/shared v0.0.0
)

require (
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.13.0 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
	golang.org/x/text v0.44.0 // indirect
)

replace github.com/signalbox-dev/signalbox/shared => ../../shared

replace github.com/signalbox-dev/signalbox/migrations => ../../migrations
