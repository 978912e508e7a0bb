package dynamicroute

import (
	"fmt"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// mostNamed is how many keys the account of a change names.
const mostNamed = 100

// diff is the account of a change for the audit log. Of a graph it has the
// number of the version, which never changes.
func diff(before, after Route) []audit.Change {
	var d audit.Diff
	d.Text("name", before.Name, after.Name)
	d.Text("slug", before.Slug, after.Slug)
	d.Text("description", before.Description, after.Description)
	d.Text("status", string(before.Status), string(after.Status))
	d.Text("latest_version", numbered(before.Latest), numbered(after.Latest))
	d.Text("deployed_version", numbered(before.Deployed), numbered(after.Deployed))
	return d
}

// keysDiff is the account of keys that were detached and attached.
func keysDiff(gone, fresh []id.Key) []audit.Change {
	var d audit.Diff
	d.List("keys", named(gone), named(fresh))
	return d
}

func named(keys []id.Key) []string {
	texts := id.Texts(keys[:min(len(keys), mostNamed)])
	if more := len(keys) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return texts
}
