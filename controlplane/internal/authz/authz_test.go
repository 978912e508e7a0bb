package authz_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/authz"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

var update = flag.Bool("update", false, "rewrite the generated reference page")

// TestEveryOperationHasARow walks the contract, not the table, so that an
// operation that nobody thought of fails.
func TestEveryOperationHasARow(t *testing.T) {
	operations := contract(t)
	rows := make(map[string]bool)
	for _, rule := range authz.Rules() {
		require.False(t, rows[rule.Operation], "two rows for %s", rule.Operation)
		rows[rule.Operation] = true
		_, known := operations[rule.Operation]
		require.True(t, known, "the row %s names no operation of the contract", rule.Operation)
	}
	for operation := range operations {
		require.True(t, rows[operation], "no row for the operation %s", operation)
	}
}

// TestEveryRoleWithAndWithoutScope states the meaning of the table a second
// time, cell by cell.
func TestEveryRoleWithAndWithoutScope(t *testing.T) {
	allowed := map[string]string{ // o, a, m, v: may; M: own only; V: masked
		"getWhoami": "oamv", "listWorkspaces": "oamv", "getWorkspace": "oamv", "updateWorkspace": "oa",
		"deleteWorkspace": "o", "listMembers": "oamv", "getMember": "oamv",
		"listKeys": "oamv", "createKey": "oaM", "getKey": "oamv", "updateKey": "oaM", "revokeKey": "oaM",
		"rotateKey": "oaM", "pauseKey": "oaM", "resumeKey": "oaM",
		"listManagementKeys": "oa", "createManagementKey": "oa", "getManagementKey": "oa",
		"revokeManagementKey": "oa", "rotateManagementKey": "oa",
		"listByokCredentials": "oamv", "createByokCredential": "oa", "reorderByokCredentials": "oa", "getByokOrder": "oamv", "getByokCredential": "oamv",
		"updateByokCredential": "oa", "deleteByokCredential": "oa", "enableByokCredential": "oa", "disableByokCredential": "oa",
		"verifyByokCredential": "oa",
		"listDepartments":      "oamv", "createDepartment": "oa", "getDepartment": "oamv", "updateDepartment": "oa", "deleteDepartment": "oa",
		"listDepartmentMembers": "oamv", "putDepartmentMember": "oa", "removeDepartmentMember": "oa",
		"listRateLimitPolicies": "oamv", "createRateLimitPolicy": "oa", "getRateLimitPolicy": "oamv", "updateRateLimitPolicy": "oa", "deleteRateLimitPolicy": "oa",
		"listRateLimitAssignments": "oamv", "createRateLimitAssignment": "oa", "getRateLimitAssignment": "oamv", "deleteRateLimitAssignment": "oa",
		"getEffectiveRouting": "oamv", "getAutoRouting": "oamv", "updateAutoRouting": "oa",
		"listEndpointHealth": "oamv", "listLifecycleAlerts": "oamv",
		"listRoutingProfiles": "oamv", "createRoutingProfile": "oa", "getRoutingProfile": "oamv",
		"updateRoutingProfile": "oa", "deleteRoutingProfile": "oa",
		"listDynamicRoutes": "oamv", "createDynamicRoute": "oa", "getDynamicRoute": "oamv", "updateDynamicRoute": "oa", "deleteDynamicRoute": "oa",
		"setDynamicRouteKeys": "oa", "listDynamicRouteVersions": "oamv", "saveDynamicRouteVersion": "oa", "getDynamicRouteVersion": "oamv",
		"diffDynamicRouteVersions": "oamv", "testDynamicRouteVersion": "oamv", "replayDynamicRouteVersion": "oamv", "deployDynamicRouteVersion": "oa", "rollbackDynamicRoute": "oa",
		"startDynamicRouteRollout": "oa", "getDynamicRouteRollout": "oamv", "listDynamicRouteRollouts": "oamv", "pauseDynamicRouteRollout": "oa",
		"resumeDynamicRouteRollout": "oa", "advanceDynamicRouteRollout": "oa", "abortDynamicRouteRollout": "oa",
		"listBudgets": "oamv", "createBudget": "oa", "getBudget": "oamv", "updateBudget": "oa", "deleteBudget": "oa",
		"listDepartmentBudgets": "oamv", "createDepartmentBudget": "oa", "getDepartmentBudget": "oamv", "updateDepartmentBudget": "oa",
		"deleteDepartmentBudget": "oa", "getSpend": "oamv",
		"listGuardrails": "oamv", "createGuardrail": "oa", "getGuardrail": "oamv", "updateGuardrail": "oa", "deleteGuardrail": "oa",
		"listGuardrailKeys": "oamv", "addGuardrailKeys": "oa", "removeGuardrailKeys": "oa", "listGuardrailMembers": "oamv", "addGuardrailMembers": "oa", "removeGuardrailMembers": "oa",
		"listPresets": "oamv", "createPreset": "oaM", "forkPreset": "oaM", "getPreset": "oamv", "updatePreset": "oaM", "archivePreset": "oaM",
		"listPresetVersions": "oamv", "publishPreset": "oaM", "getPresetVersion": "oamv", "comparePresetVersions": "oamv", "deployPresetVersion": "oaM",
		"rollBackPreset": "oaM", "updatePresetUpstream": "oaM", "getPublisher": "oamv", "putPublisher": "oa",
		"listWebhooks": "oa", "createWebhook": "oa", "getWebhook": "oa", "updateWebhook": "oa", "deleteWebhook": "oa", "testWebhook": "oa",
		"rotateWebhookSecret": "oa", "listWebhookDeliveries": "oa", "redeliverWebhookDelivery": "oa",
		"getBudgetAlertShares": "oamv", "setBudgetAlertShares": "oa", "listBudgetAlerts": "oamv",
		"getSettings": "oamv", "updateSettings": "oa", "listAuditEvents": "oa",
		"listLogs": "oamV", "getLog": "oamV", "getUsage": "oamv",
		"listPublications": "oamv", "getPublication": "oamv", "listGateways": "oamv",
		"listPlatformWorkspaces": "", "createPlatformWorkspace": "", "getPlatformWorkspaceTags": "", "setPlatformWorkspaceTags": "",
		"getPlatformKeyring": "", "getPlatformCatalog": "", "replacePlatformCatalog": "", "putPlatformProvider": "", "deletePlatformProvider": "",
		"putPlatformModel": "", "deletePlatformModel": "", "putPlatformEndpoint": "", "deletePlatformEndpoint": "",
		"listPlatformRules": "", "orderPlatformRules": "", "putPlatformRule": "", "deletePlatformRule": "",
		"listPlatformAuditEvents": "", "getPlatformBilling": "", "updatePlatformBilling": "", "listPlatformCreditEntries": "", "topUpPlatformCredits": "",
		"adjustPlatformCredits": "", "getPlatformAllowance": "", "updatePlatformAllowance": "",
		"getCredits": "oamv", "listCreditEntries": "oamv",
	}
	letters := map[authz.Role]string{authz.Owner: "o", authz.Admin: "a", authz.Member: "m", authz.Viewer: "v"}
	for operation, security := range contract(t) {
		want, ok := allowed[operation]
		require.True(t, ok, "this test does not say who may call %s", operation)
		scope := scopeOf(operation)
		for _, role := range authz.Roles() {
			letter := letters[role]
			got, err := authz.Check(authz.Principal{Role: role, Scopes: []string{"other:read", scope}}, operation)
			switch {
			case strings.Contains(want, letter):
				require.NoError(t, err, "%s by %s", operation, role)
				require.Equal(t, authz.Grant{}, got, "%s by %s", operation, role)
			case strings.Contains(want, strings.ToUpper(letter)):
				require.NoError(t, err, "%s by %s", operation, role)
				require.Equal(t, authz.Grant{OwnOnly: letter == "m", Masked: letter == "v"}, got, "%s by %s", operation, role)
			default:
				require.True(t, fault.Is(err, fault.Forbidden), "%s by %s", operation, role)
			}
			if scope != "" {
				_, err = authz.Check(authz.Principal{Role: role, Scopes: []string{"other:read"}}, operation)
				require.True(t, fault.Is(err, fault.InsufficientScope), "%s by %s without scope", operation, role)
				require.Equal(t, []string{scope}, fault.Of(err).Fields["missing_scopes"])
			}
			_, err = authz.Check(authz.Principal{Role: "stranger", Scopes: []string{scope}}, operation)
			require.Error(t, err, "%s by an unknown role", operation)
		}
		_, err := authz.Check(authz.Principal{Operator: true}, operation)
		require.Equal(t, slices.Contains(security, "operator_token"), err == nil, "%s by the operator", operation)
		if slices.Contains(security, "management_key") {
			require.NotEmpty(t, want, "%s declares management keys but no role may call it", operation)
		}
	}
}

func TestUnknownOperationIsRefused(t *testing.T) {
	_, err := authz.Check(authz.Principal{Operator: true}, "inventedOperation")
	require.True(t, fault.Is(err, fault.Forbidden))
}

func TestReferencePageIsCurrent(t *testing.T) {
	var page bytes.Buffer
	require.NoError(t, authz.WriteMarkdown(&page))
	path := filepath.Join("..", "..", "..", "docs", "reference", "authorization.md")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, page.Bytes(), 0o644))
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, page.String(), string(have), "run the test with -update")
}

// contract returns the operations of the OpenAPI file with the names of the
// security schemes that each accepts.
func contract(t *testing.T) map[string][]string {
	t.Helper()
	spec, err := gen.GetSpec()
	require.NoError(t, err)
	operations := make(map[string][]string)
	for _, item := range spec.Paths.Map() {
		for _, operation := range item.Operations() {
			requirements := spec.Security
			if operation.Security != nil {
				requirements = *operation.Security
			}
			var schemes []string
			for _, requirement := range requirements {
				for name := range requirement {
					schemes = append(schemes, name)
				}
			}
			operations[operation.OperationID] = schemes
		}
	}
	require.NotEmpty(t, operations)
	return operations
}

func scopeOf(operation string) string {
	for _, rule := range authz.Rules() {
		if rule.Operation == operation {
			return rule.Scope
		}
	}
	return ""
}
