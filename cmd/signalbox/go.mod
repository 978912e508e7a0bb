module github.com/signalbox-dev/signalbox/cmd/signalbox

go 1.26.6

require (
	github.com/signalbox-dev/signalbox/controlplane v0.0.0
	github.com/signalbox-dev/signalbox/dataplane v0.0.0
	github.com/signalbox-dev/signalbox/migrations v0.0.0
	github.com/signalbox-dev/signalbox/shared v0.0.0
	github.com/signalbox-dev/signalbox/shared/testkit v0.0.0
)

require (
	github.com/apapsch/go-jsonmerge/v2 v2.0.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/oapi-codegen/nullable v1.2.0 // indirect
	github.com/oapi-codegen/runtime v1.9.0 // indirect
	github.com/spf13/cobra v1.10.2 // indirect
	github.com/spf13/pflag v1.0.10 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace github.com/signalbox-dev/signalbox/shared => ../../shared

replace github.com/signalbox-dev/signalbox/shared/testkit => ../../shared/testkit

replace github.com/signalbox-dev/signalbox/migrations => ../../migrations

replace github.com/signalbox-dev/signalbox/controlplane => ../../controlplane

replace github.com/signalbox-dev/signalbox/dataplane => ../../dataplane
