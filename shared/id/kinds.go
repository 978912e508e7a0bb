package id

// The marker types of the identifier kinds. They are exported only because the
// generic aliases below name them.
type (
	// WorkspaceKind marks identifiers of a tenant.
	WorkspaceKind struct{}
	// UserKind marks identifiers of a person.
	UserKind struct{}
	// KeyKind marks identifiers of an API key.
	KeyKind struct{}
	// ManagementKeyKind marks identifiers of a management key.
	ManagementKeyKind struct{}
	// RouteKind marks identifiers of a dynamic route.
	RouteKind struct{}
	// PublicationKind marks identifiers of a publication.
	PublicationKind struct{}
	// AuditEventKind marks identifiers of an audit event.
	AuditEventKind struct{}
	// RequestKind marks identifiers of an inference request.
	RequestKind struct{}
	// AttemptKind marks identifiers of an upstream call.
	AttemptKind struct{}
	// GatewayKind marks identifiers of a gateway.
	GatewayKind struct{}
	// ProfileKind marks identifiers of a routing profile.
	ProfileKind struct{}
	// DepartmentKind marks identifiers of a department.
	DepartmentKind struct{}
	// CredentialKind marks identifiers of a workspace's own provider credential.
	CredentialKind struct{}
	// GuardrailKind marks identifiers of a guardrail.
	GuardrailKind struct{}
	// RolloutKind marks identifiers of a staged rollout.
	RolloutKind struct{}
	// PresetKind marks identifiers of a preset.
	PresetKind struct{}
	// RatePolicyKind marks identifiers of a rate-limit policy.
	RatePolicyKind struct{}
	// RateAssignmentKind marks identifiers of the assignment of a rate-limit policy.
	RateAssignmentKind struct{}
	// BudgetKind marks identifiers of a budget.
	BudgetKind struct{}
	// WalletEntryKind marks identifiers of one entry of a wallet.
	WalletEntryKind struct{}
	// WebhookKind marks identifiers of a webhook.
	WebhookKind struct{}
	// DeliveryKind marks identifiers of one delivery to a webhook.
	DeliveryKind struct{}
	// EventKind marks identifiers of something that webhooks are told of.
	EventKind struct{}
)

// Prefix implements Kind.
func (WorkspaceKind) Prefix() string { return "ws" }

// Prefix implements Kind.
func (UserKind) Prefix() string { return "user" }

// Prefix implements Kind.
func (KeyKind) Prefix() string { return "key" }

// Prefix implements Kind.
func (ManagementKeyKind) Prefix() string { return "mk" }

// Prefix implements Kind.
func (RouteKind) Prefix() string { return "route" }

// Prefix implements Kind.
func (PublicationKind) Prefix() string { return "pub" }

// Prefix implements Kind.
func (AuditEventKind) Prefix() string { return "audit" }

// Prefix implements Kind.
func (RequestKind) Prefix() string { return "req" }

// Prefix implements Kind.
func (AttemptKind) Prefix() string { return "att" }

// Prefix implements Kind.
func (GatewayKind) Prefix() string { return "gw" }

// Prefix implements Kind.
func (ProfileKind) Prefix() string { return "profile" }

// Prefix implements Kind.
func (DepartmentKind) Prefix() string { return "dept" }

// Prefix implements Kind.
func (CredentialKind) Prefix() string { return "byok" }

// Prefix implements Kind.
func (GuardrailKind) Prefix() string { return "guard" }

// Prefix implements Kind.
func (RolloutKind) Prefix() string { return "rollout" }

// Prefix implements Kind.
func (PresetKind) Prefix() string { return "preset" }

// Prefix implements Kind.
func (RatePolicyKind) Prefix() string { return "rlp" }

// Prefix implements Kind.
func (RateAssignmentKind) Prefix() string { return "rla" }

// Prefix implements Kind.
func (BudgetKind) Prefix() string { return "budget" }

// Prefix implements Kind.
func (WalletEntryKind) Prefix() string { return "credit" }

// Prefix implements Kind.
func (WebhookKind) Prefix() string { return "hook" }

// Prefix implements Kind.
func (DeliveryKind) Prefix() string { return "dlv" }

// Prefix implements Kind.
func (EventKind) Prefix() string { return "event" }

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
	// Profile identifies a routing profile.
	Profile = ID[ProfileKind]
	// Department identifies a department.
	Department = ID[DepartmentKind]
	// Credential identifies a workspace's own provider credential.
	Credential = ID[CredentialKind]
	// Guardrail identifies a guardrail.
	Guardrail = ID[GuardrailKind]
	// Rollout identifies a staged rollout of a dynamic route's version.
	Rollout = ID[RolloutKind]
	// Preset identifies a preset.
	Preset = ID[PresetKind]
	// RatePolicy identifies a rate-limit policy.
	RatePolicy = ID[RatePolicyKind]
	// RateAssignment identifies the assignment of a rate-limit policy.
	RateAssignment = ID[RateAssignmentKind]
	// Budget identifies a budget.
	Budget = ID[BudgetKind]
	// WalletEntry identifies one entry of a wallet.
	WalletEntry = ID[WalletEntryKind]
	// Webhook identifies a webhook.
	Webhook = ID[WebhookKind]
	// Delivery identifies one delivery to a webhook.
	Delivery = ID[DeliveryKind]
	// Event identifies something that webhooks are told of.
	Event = ID[EventKind]
)
