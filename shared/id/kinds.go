package id

// The marker types are exported only because generic aliases name them.
type (
	WorkspaceKind     struct{}
	UserKind          struct{}
	KeyKind           struct{}
	ManagementKeyKind struct{}
	RouteKind         struct{}
	PublicationKind   struct{}
	AuditEventKind    struct{}
	RequestKind       struct{}
	AttemptKind       struct{}
	GatewayKind       struct{}
)

func (WorkspaceKind) Prefix() string     { return "ws" }
func (UserKind) Prefix() string          { return "user" }
func (KeyKind) Prefix() string           { return "key" }
func (ManagementKeyKind) Prefix() string { return "mk" }
func (RouteKind) Prefix() string         { return "route" }
func (PublicationKind) Prefix() string   { return "pub" }
func (AuditEventKind) Prefix() string    { return "audit" }
func (RequestKind) Prefix() string       { return "req" }
func (AttemptKind) Prefix() string       { return "att" }
func (GatewayKind) Prefix() string       { return "gw" }

type (
	// Workspace identifies a tenant.
	Workspace = ID[WorkspaceKind]
	// User identifies a person across workspaces; a member is a user in a workspace.
	User = ID[UserKind]
	// Key identifies an API key (not its kid, which is the public part of the credential).
	Key = ID[KeyKind]
	// ManagementKey identifies a management key.
	ManagementKey = ID[ManagementKeyKind]
	// Route identifies a dynamic route.
	Route = ID[RouteKind]
	// Publication identifies one change on its way to the gateways.
	Publication = ID[PublicationKind]
	// AuditEvent identifies one entry of the audit log.
	AuditEvent = ID[AuditEventKind]
	// Request identifies one inference request; it is also the generation id.
	Request = ID[RequestKind]
	// Attempt identifies one upstream call.
	Attempt = ID[AttemptKind]
	// Gateway identifies one gateway's spool directory, so it survives restarts.
	Gateway = ID[GatewayKind]
)
