package authz

// Audience says which kind of caller an operation is for.
type Audience string

// The audiences.
const (
	ForWorkspace Audience = "workspace" // management keys
	ForOperator  Audience = "operator"  // the platform operator's token
	ForAnyone    Audience = "anyone"    // any valid credential
)

// Rule says who may call one operation. A role that is in none of Roles, Own
// and Masked may not call it.
type Rule struct {
	Operation string // operationId of the OpenAPI file
	Audience  Audience
	Scope     string // what a management key needs; "" for nothing
	Roles     []Role // may call it
	Own       []Role // may call it for what they create themselves, and bind no policy to it
	Masked    []Role // may call it and see no identities in the answer
}

var (
	ownerOnly  = []Role{Owner}
	admins     = []Role{Owner, Admin}
	everyone   = []Role{Owner, Admin, Member, Viewer}
	ownMembers = []Role{Member}
	notViewer  = []Role{Owner, Admin, Member}
	viewers    = []Role{Viewer}
)

// table is the one source of the checks, the documentation and the exhaustive
// test. Its order is that of the documentation.
var table = []Rule{
	{Operation: "getWhoami", Audience: ForAnyone, Roles: everyone},

	{Operation: "listWorkspaces", Audience: ForWorkspace, Scope: "workspaces:read", Roles: everyone},
	{Operation: "getWorkspace", Audience: ForWorkspace, Scope: "workspaces:read", Roles: everyone},
	{Operation: "updateWorkspace", Audience: ForWorkspace, Scope: "workspaces:write", Roles: admins},
	{Operation: "deleteWorkspace", Audience: ForWorkspace, Scope: "workspaces:delete", Roles: ownerOnly},
	{Operation: "listMembers", Audience: ForWorkspace, Scope: "members:read", Roles: everyone},
	{Operation: "getMember", Audience: ForWorkspace, Scope: "members:read", Roles: everyone},

	{Operation: "listKeys", Audience: ForWorkspace, Scope: "keys:read", Roles: everyone},
	{Operation: "createKey", Audience: ForWorkspace, Scope: "keys:write", Roles: admins, Own: ownMembers},
	{Operation: "getKey", Audience: ForWorkspace, Scope: "keys:read", Roles: everyone},
	{Operation: "updateKey", Audience: ForWorkspace, Scope: "keys:write", Roles: admins, Own: ownMembers},
	{Operation: "revokeKey", Audience: ForWorkspace, Scope: "keys:write", Roles: admins, Own: ownMembers},
	{Operation: "rotateKey", Audience: ForWorkspace, Scope: "keys:write", Roles: admins, Own: ownMembers},
	{Operation: "pauseKey", Audience: ForWorkspace, Scope: "keys:write", Roles: admins, Own: ownMembers},
	{Operation: "resumeKey", Audience: ForWorkspace, Scope: "keys:write", Roles: admins, Own: ownMembers},

	{Operation: "listManagementKeys", Audience: ForWorkspace, Scope: "management_keys:read", Roles: admins},
	{Operation: "createManagementKey", Audience: ForWorkspace, Scope: "management_keys:write", Roles: admins},
	{Operation: "getManagementKey", Audience: ForWorkspace, Scope: "management_keys:read", Roles: admins},
	{Operation: "revokeManagementKey", Audience: ForWorkspace, Scope: "management_keys:write", Roles: admins},
	{Operation: "rotateManagementKey", Audience: ForWorkspace, Scope: "management_keys:write", Roles: admins},

	{Operation: "listByokCredentials", Audience: ForWorkspace, Scope: "byok:read", Roles: everyone},
	{Operation: "createByokCredential", Audience: ForWorkspace, Scope: "byok:write", Roles: admins},
	{Operation: "getByokOrder", Audience: ForWorkspace, Scope: "byok:read", Roles: everyone},
	{Operation: "reorderByokCredentials", Audience: ForWorkspace, Scope: "byok:write", Roles: admins},
	{Operation: "getByokCredential", Audience: ForWorkspace, Scope: "byok:read", Roles: everyone},
	{Operation: "updateByokCredential", Audience: ForWorkspace, Scope: "byok:write", Roles: admins},
	{Operation: "deleteByokCredential", Audience: ForWorkspace, Scope: "byok:write", Roles: admins},
	{Operation: "enableByokCredential", Audience: ForWorkspace, Scope: "byok:write", Roles: admins},
	{Operation: "disableByokCredential", Audience: ForWorkspace, Scope: "byok:write", Roles: admins},
	{Operation: "verifyByokCredential", Audience: ForWorkspace, Scope: "byok:write", Roles: admins},

	{Operation: "listWebhooks", Audience: ForWorkspace, Scope: "webhooks:read", Roles: admins},
	{Operation: "createWebhook", Audience: ForWorkspace, Scope: "webhooks:write", Roles: admins},
	{Operation: "getWebhook", Audience: ForWorkspace, Scope: "webhooks:read", Roles: admins},
	{Operation: "updateWebhook", Audience: ForWorkspace, Scope: "webhooks:write", Roles: admins},
	{Operation: "deleteWebhook", Audience: ForWorkspace, Scope: "webhooks:write", Roles: admins},
	{Operation: "testWebhook", Audience: ForWorkspace, Scope: "webhooks:write", Roles: admins},
	{Operation: "rotateWebhookSecret", Audience: ForWorkspace, Scope: "webhooks:write", Roles: admins},
	{Operation: "listWebhookDeliveries", Audience: ForWorkspace, Scope: "webhooks:read", Roles: admins},
	{Operation: "redeliverWebhookDelivery", Audience: ForWorkspace, Scope: "webhooks:write", Roles: admins},
	{Operation: "getBudgetAlertShares", Audience: ForWorkspace, Scope: "usage:read", Roles: everyone},
	{Operation: "setBudgetAlertShares", Audience: ForWorkspace, Scope: "webhooks:write", Roles: admins},
	{Operation: "listBudgetAlerts", Audience: ForWorkspace, Scope: "usage:read", Roles: everyone},

	{Operation: "getSettings", Audience: ForWorkspace, Scope: "settings:read", Roles: everyone},
	{Operation: "updateSettings", Audience: ForWorkspace, Scope: "settings:write", Roles: admins},

	{Operation: "listDepartments", Audience: ForWorkspace, Scope: "workspaces:read", Roles: everyone},
	{Operation: "createDepartment", Audience: ForWorkspace, Scope: "workspaces:write", Roles: admins},
	{Operation: "getDepartment", Audience: ForWorkspace, Scope: "workspaces:read", Roles: everyone},
	{Operation: "updateDepartment", Audience: ForWorkspace, Scope: "workspaces:write", Roles: admins},
	{Operation: "deleteDepartment", Audience: ForWorkspace, Scope: "workspaces:write", Roles: admins},
	{Operation: "listDepartmentMembers", Audience: ForWorkspace, Scope: "workspaces:read", Roles: everyone},
	{Operation: "putDepartmentMember", Audience: ForWorkspace, Scope: "workspaces:write", Roles: admins},
	{Operation: "removeDepartmentMember", Audience: ForWorkspace, Scope: "workspaces:write", Roles: admins},

	{Operation: "getAutoRouting", Audience: ForWorkspace, Scope: "routing:read", Roles: everyone},
	{Operation: "updateAutoRouting", Audience: ForWorkspace, Scope: "routing:write", Roles: admins},
	{Operation: "getEffectiveRouting", Audience: ForWorkspace, Scope: "routing:read", Roles: everyone},
	{Operation: "listEndpointHealth", Audience: ForWorkspace, Scope: "routing:read", Roles: everyone},
	{Operation: "listLifecycleAlerts", Audience: ForWorkspace, Scope: "routing:read", Roles: everyone},
	{Operation: "listRoutingProfiles", Audience: ForWorkspace, Scope: "routing:read", Roles: everyone},
	{Operation: "createRoutingProfile", Audience: ForWorkspace, Scope: "routing:write", Roles: admins},
	{Operation: "getRoutingProfile", Audience: ForWorkspace, Scope: "routing:read", Roles: everyone},
	{Operation: "updateRoutingProfile", Audience: ForWorkspace, Scope: "routing:write", Roles: admins},
	{Operation: "deleteRoutingProfile", Audience: ForWorkspace, Scope: "routing:write", Roles: admins},

	{Operation: "listDynamicRoutes", Audience: ForWorkspace, Scope: "routing:read", Roles: everyone},
	{Operation: "createDynamicRoute", Audience: ForWorkspace, Scope: "routing:write", Roles: admins},
	{Operation: "getDynamicRoute", Audience: ForWorkspace, Scope: "routing:read", Roles: everyone},
	{Operation: "updateDynamicRoute", Audience: ForWorkspace, Scope: "routing:write", Roles: admins},
	{Operation: "deleteDynamicRoute", Audience: ForWorkspace, Scope: "routing:write", Roles: admins},
	{Operation: "setDynamicRouteKeys", Audience: ForWorkspace, Scope: "routing:deploy", Roles: admins},
	{Operation: "listDynamicRouteVersions", Audience: ForWorkspace, Scope: "routing:read", Roles: everyone},
	{Operation: "saveDynamicRouteVersion", Audience: ForWorkspace, Scope: "routing:write", Roles: admins},
	{Operation: "getDynamicRouteVersion", Audience: ForWorkspace, Scope: "routing:read", Roles: everyone},
	{Operation: "diffDynamicRouteVersions", Audience: ForWorkspace, Scope: "routing:read", Roles: everyone},
	{Operation: "testDynamicRouteVersion", Audience: ForWorkspace, Scope: "routing:read", Roles: everyone},
	{Operation: "replayDynamicRouteVersion", Audience: ForWorkspace, Scope: "routing:read", Roles: everyone},
	{Operation: "deployDynamicRouteVersion", Audience: ForWorkspace, Scope: "routing:deploy", Roles: admins},
	{Operation: "rollbackDynamicRoute", Audience: ForWorkspace, Scope: "routing:deploy", Roles: admins},
	{Operation: "startDynamicRouteRollout", Audience: ForWorkspace, Scope: "routing:deploy", Roles: admins},
	{Operation: "getDynamicRouteRollout", Audience: ForWorkspace, Scope: "routing:read", Roles: everyone},
	{Operation: "listDynamicRouteRollouts", Audience: ForWorkspace, Scope: "routing:read", Roles: everyone},
	{Operation: "pauseDynamicRouteRollout", Audience: ForWorkspace, Scope: "routing:deploy", Roles: admins},
	{Operation: "resumeDynamicRouteRollout", Audience: ForWorkspace, Scope: "routing:deploy", Roles: admins},
	{Operation: "advanceDynamicRouteRollout", Audience: ForWorkspace, Scope: "routing:deploy", Roles: admins},
	{Operation: "abortDynamicRouteRollout", Audience: ForWorkspace, Scope: "routing:deploy", Roles: admins},
	{Operation: "listGuardrails", Audience: ForWorkspace, Scope: "guardrails:read", Roles: everyone},
	{Operation: "createGuardrail", Audience: ForWorkspace, Scope: "guardrails:write", Roles: admins},
	{Operation: "getGuardrail", Audience: ForWorkspace, Scope: "guardrails:read", Roles: everyone},
	{Operation: "updateGuardrail", Audience: ForWorkspace, Scope: "guardrails:write", Roles: admins},
	{Operation: "deleteGuardrail", Audience: ForWorkspace, Scope: "guardrails:write", Roles: admins},
	{Operation: "listGuardrailKeys", Audience: ForWorkspace, Scope: "guardrails:read", Roles: everyone},
	{Operation: "addGuardrailKeys", Audience: ForWorkspace, Scope: "guardrails:write", Roles: admins},
	{Operation: "removeGuardrailKeys", Audience: ForWorkspace, Scope: "guardrails:write", Roles: admins},
	{Operation: "listGuardrailMembers", Audience: ForWorkspace, Scope: "guardrails:read", Roles: everyone},
	{Operation: "addGuardrailMembers", Audience: ForWorkspace, Scope: "guardrails:write", Roles: admins},
	{Operation: "removeGuardrailMembers", Audience: ForWorkspace, Scope: "guardrails:write", Roles: admins},

	{Operation: "listRateLimitPolicies", Audience: ForWorkspace, Scope: "rate_limits:read", Roles: everyone},
	{Operation: "createRateLimitPolicy", Audience: ForWorkspace, Scope: "rate_limits:write", Roles: admins},
	{Operation: "getRateLimitPolicy", Audience: ForWorkspace, Scope: "rate_limits:read", Roles: everyone},
	{Operation: "updateRateLimitPolicy", Audience: ForWorkspace, Scope: "rate_limits:write", Roles: admins},
	{Operation: "deleteRateLimitPolicy", Audience: ForWorkspace, Scope: "rate_limits:write", Roles: admins},
	{Operation: "listRateLimitAssignments", Audience: ForWorkspace, Scope: "rate_limits:read", Roles: everyone},
	{Operation: "createRateLimitAssignment", Audience: ForWorkspace, Scope: "rate_limits:write", Roles: admins},
	{Operation: "getRateLimitAssignment", Audience: ForWorkspace, Scope: "rate_limits:read", Roles: everyone},
	{Operation: "deleteRateLimitAssignment", Audience: ForWorkspace, Scope: "rate_limits:write", Roles: admins},

	{Operation: "listBudgets", Audience: ForWorkspace, Scope: "budgets:read", Roles: everyone},
	{Operation: "createBudget", Audience: ForWorkspace, Scope: "budgets:write", Roles: admins},
	{Operation: "getBudget", Audience: ForWorkspace, Scope: "budgets:read", Roles: everyone},
	{Operation: "updateBudget", Audience: ForWorkspace, Scope: "budgets:write", Roles: admins},
	{Operation: "deleteBudget", Audience: ForWorkspace, Scope: "budgets:write", Roles: admins},
	{Operation: "listDepartmentBudgets", Audience: ForWorkspace, Scope: "budgets:read", Roles: everyone},
	{Operation: "createDepartmentBudget", Audience: ForWorkspace, Scope: "budgets:write", Roles: admins},
	{Operation: "getDepartmentBudget", Audience: ForWorkspace, Scope: "budgets:read", Roles: everyone},
	{Operation: "updateDepartmentBudget", Audience: ForWorkspace, Scope: "budgets:write", Roles: admins},
	{Operation: "deleteDepartmentBudget", Audience: ForWorkspace, Scope: "budgets:write", Roles: admins},
	{Operation: "listPresets", Audience: ForWorkspace, Scope: "presets:read", Roles: everyone},
	{Operation: "createPreset", Audience: ForWorkspace, Scope: "presets:write", Roles: admins, Own: ownMembers},
	{Operation: "forkPreset", Audience: ForWorkspace, Scope: "presets:write", Roles: admins, Own: ownMembers},
	{Operation: "getPublisher", Audience: ForWorkspace, Scope: "presets:read", Roles: everyone},
	{Operation: "putPublisher", Audience: ForWorkspace, Scope: "presets:write", Roles: admins},
	{Operation: "getPreset", Audience: ForWorkspace, Scope: "presets:read", Roles: everyone},
	{Operation: "updatePreset", Audience: ForWorkspace, Scope: "presets:write", Roles: admins, Own: ownMembers},
	{Operation: "archivePreset", Audience: ForWorkspace, Scope: "presets:write", Roles: admins, Own: ownMembers},
	{Operation: "listPresetVersions", Audience: ForWorkspace, Scope: "presets:read", Roles: everyone},
	{Operation: "publishPreset", Audience: ForWorkspace, Scope: "presets:write", Roles: admins, Own: ownMembers},
	{Operation: "getPresetVersion", Audience: ForWorkspace, Scope: "presets:read", Roles: everyone},
	{Operation: "comparePresetVersions", Audience: ForWorkspace, Scope: "presets:read", Roles: everyone},
	{Operation: "deployPresetVersion", Audience: ForWorkspace, Scope: "presets:deploy", Roles: admins, Own: ownMembers},
	{Operation: "rollBackPreset", Audience: ForWorkspace, Scope: "presets:deploy", Roles: admins, Own: ownMembers},
	{Operation: "updatePresetUpstream", Audience: ForWorkspace, Scope: "presets:write", Roles: admins, Own: ownMembers},

	{Operation: "listAuditEvents", Audience: ForWorkspace, Scope: "audit:read", Roles: admins},
	{Operation: "listLogs", Audience: ForWorkspace, Scope: "logs:read", Roles: notViewer, Masked: viewers},
	{Operation: "getLog", Audience: ForWorkspace, Scope: "logs:read", Roles: notViewer, Masked: viewers},
	{Operation: "getUsage", Audience: ForWorkspace, Scope: "usage:read", Roles: everyone},
	{Operation: "getSpend", Audience: ForWorkspace, Scope: "usage:read", Roles: everyone},
	{Operation: "getCredits", Audience: ForWorkspace, Scope: "usage:read", Roles: everyone},
	{Operation: "listCreditEntries", Audience: ForWorkspace, Scope: "usage:read", Roles: everyone},

	{Operation: "listPublications", Audience: ForWorkspace, Scope: "publications:read", Roles: everyone},
	{Operation: "getPublication", Audience: ForWorkspace, Scope: "publications:read", Roles: everyone},
	{Operation: "listGateways", Audience: ForWorkspace, Scope: "gateways:read", Roles: everyone},

	{Operation: "listPlatformWorkspaces", Audience: ForOperator},
	{Operation: "createPlatformWorkspace", Audience: ForOperator},
	{Operation: "getPlatformWorkspaceTags", Audience: ForOperator},
	{Operation: "setPlatformWorkspaceTags", Audience: ForOperator},
	{Operation: "getPlatformBilling", Audience: ForOperator},
	{Operation: "updatePlatformBilling", Audience: ForOperator},
	{Operation: "listPlatformCreditEntries", Audience: ForOperator},
	{Operation: "topUpPlatformCredits", Audience: ForOperator},
	{Operation: "adjustPlatformCredits", Audience: ForOperator},
	{Operation: "getPlatformAllowance", Audience: ForOperator},
	{Operation: "updatePlatformAllowance", Audience: ForOperator},
	{Operation: "getPlatformKeyring", Audience: ForOperator},
	{Operation: "getPlatformCatalog", Audience: ForOperator},
	{Operation: "replacePlatformCatalog", Audience: ForOperator},
	{Operation: "putPlatformProvider", Audience: ForOperator},
	{Operation: "deletePlatformProvider", Audience: ForOperator},
	{Operation: "putPlatformModel", Audience: ForOperator},
	{Operation: "deletePlatformModel", Audience: ForOperator},
	{Operation: "putPlatformEndpoint", Audience: ForOperator},
	{Operation: "deletePlatformEndpoint", Audience: ForOperator},
	{Operation: "listPlatformRules", Audience: ForOperator},
	{Operation: "orderPlatformRules", Audience: ForOperator},
	{Operation: "putPlatformRule", Audience: ForOperator},
	{Operation: "deletePlatformRule", Audience: ForOperator},
	{Operation: "listPlatformAuditEvents", Audience: ForOperator},
}

// Rules returns the table in the order of the documentation.
func Rules() []Rule { return table }
