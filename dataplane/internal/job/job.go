// Package job owns the names by which callers know what providers keep for
// them: jobs and files. A name carries, sealed, whom the thing belongs to and
// where it is, so that every gateway finds it and nobody else can; beside that
// a list is kept, on which nothing depends. It knows no format and no provider.
package job

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Sealer makes texts that stand for values and cannot be made by others.
type Sealer interface {
	Make(value []byte, associated ...string) (string, error)
	Read(identifier string, associated ...string) ([]byte, error)
}

// prefixes begin the names of what a surface makes, as its clients know them.
var prefixes = map[catalog.Surface]string{
	catalog.Videos:  "video_",
	catalog.Music:   "music_",
	catalog.Batches: "batch_",
	catalog.Files:   "file-",
}

// maxName bounds what is read, in bytes: paths are longer than names.
const maxName = 1 << 10

// Names names things and finds them again.
type Names struct {
	sealer Sealer
	list   Lister
	log    *slog.Logger
}

// Lister keeps the list of what each workspace has made. *Index is one.
type Lister interface {
	Put(ctx context.Context, ws id.Workspace, s catalog.Surface, name string) error
	Drop(ctx context.Context, ws id.Workspace, s catalog.Surface, name string) error
	List(ctx context.Context, ws id.Workspace, s catalog.Surface) ([]string, error)
}

// NewNames returns Names. A nil sealer is that of a gateway without a keyring:
// it names nothing.
func NewNames(sealer Sealer, list Lister, log *slog.Logger) *Names {
	return &Names{sealer: sealer, list: list, log: log}
}

// ready refuses to make what could not be found again.
func (n *Names) ready() *fault.Error {
	if n.sealer == nil {
		return fault.New(fault.UpstreamUndetermined,
			"This gateway has no keyring and cannot keep jobs and files apart. Tell the operator to set keyring_file.").From(fault.Gateway)
	}
	return nil
}

// Ready reports, before anything is made, whether it can be named.
func (n *Names) Ready(s catalog.Surface) *fault.Error {
	if _, makes := prefixes[s]; !makes {
		return nil
	}
	return n.ready()
}

// Name is the caller's name of a thing. It is the same each time.
func (n *Names) Name(ws id.Workspace, s catalog.Surface, owned call.Owned) (string, error) {
	if failure := n.ready(); failure != nil {
		return "", failure
	}
	value := bytes.Join([][]byte{{version}, []byte(owned.Endpoint), []byte(owned.ID)}, separator)
	sealed, err := n.sealer.Make(value, purpose, string(s), ws.String())
	if err != nil {
		return "", err
	}
	return prefixes[s] + sealed, nil
}

const (
	version = '1'
	purpose = "job"
)

// separator parts the members of a value; neither has it.
var separator = []byte{0}

var errBroken = errors.New("sealed value is not of this version")

// Find returns what a name stands for. A name that is not one of the
// workspace's own is not there, whatever else is wrong with it.
func (n *Names) Find(ws id.Workspace, s catalog.Surface, name string) (call.Owned, error) {
	if failure := n.ready(); failure != nil {
		return call.Owned{}, failure
	}
	sealed, ok := strings.CutPrefix(name, prefixes[s])
	if !ok || len(name) > maxName {
		return call.Owned{}, notThere(nil)
	}
	value, err := n.sealer.Read(sealed, purpose, string(s), ws.String())
	if err != nil {
		return call.Owned{}, notThere(err)
	}
	members := bytes.Split(value, separator)
	if len(members) != 3 || string(members[0]) != string(version) {
		return call.Owned{}, notThere(errBroken)
	}
	return call.Owned{Endpoint: string(members[1]), ID: string(members[2])}, nil
}

// listTime bounds the keeping of the list, for which callers wait.
const listTime = 2 * time.Second

// Keep puts a name on the workspace's list.
func (n *Names) Keep(ctx context.Context, ws id.Workspace, s catalog.Surface, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listTime)
	defer cancel()
	if err := n.list.Put(ctx, ws, s, name); err != nil {
		n.log.WarnContext(ctx, "a job or file is missing from its workspace's list",
			slog.String("workspace", ws.String()), slog.String("surface", string(s)), slog.Any("error", err))
	}
}

// Forget takes a name off the workspace's list.
func (n *Names) Forget(ctx context.Context, ws id.Workspace, s catalog.Surface, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listTime)
	defer cancel()
	if err := n.list.Drop(ctx, ws, s, name); err != nil {
		n.log.WarnContext(ctx, "a deleted job or file is still on its workspace's list",
			slog.String("workspace", ws.String()), slog.String("surface", string(s)), slog.Any("error", err))
	}
}

// List returns the names of what a workspace has made, the newest first.
func (n *Names) List(ctx context.Context, ws id.Workspace, s catalog.Surface) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	names, err := n.list.List(ctx, ws, s)
	if err != nil {
		return nil, fault.Wrap(err, fault.UpstreamUndetermined,
			"The list cannot be read at the moment. Try again shortly.").From(fault.Gateway).After(time.Second)
	}
	return names, nil
}

func notThere(cause error) *fault.Error {
	return fault.Wrap(cause, fault.NotFound, "There is nothing with this id in your workspace.")
}
