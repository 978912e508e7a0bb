package config

// Variables that name no setting of a process: the command line and private
// Postgres clusters read them, and may do so in the environment that a process
// is started in. Every Load lets them pass.
const (
	EnvControlURL    = Prefix + "CONTROL_URL"
	EnvGatewayURL    = Prefix + "GATEWAY_URL"
	EnvManagementKey = Prefix + "MANAGEMENT_KEY" // or a file, with FileSuffix
	EnvOperatorToken = Prefix + "OPERATOR_TOKEN" // or a file; a setting of control planes too
	EnvAPIKey        = Prefix + "API_KEY"        // or a file
	envBinaries      = Prefix + "PG_BIN"         // pgcluster.EnvBinaries; a test holds them together
)

func passes(name string) bool {
	switch name {
	case EnvControlURL, EnvGatewayURL, envBinaries,
		EnvManagementKey, EnvManagementKey + FileSuffix,
		EnvOperatorToken, EnvOperatorToken + FileSuffix,
		EnvAPIKey, EnvAPIKey + FileSuffix:
		return true
	}
	return false
}
