package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// PublicPreset is the document of a public preset with the name that it has in
// NATS.
type PublicPreset struct {
	Handle, Slug string
	policy.PublicPreset
}

// PresetLedger is what Postgres holds of presets, for comparing it with NATS.
// Ranges are those of PresetRange.
type PresetLedger interface {
	// VersionRanges sums up all versions, by their numbers, and PublicRanges all
	// that are or were public, by their revisions.
	VersionRanges(ctx context.Context) (Sums, error)
	PublicRanges(ctx context.Context) (Sums, error)
	// Versions and Public list the documents of one range.
	Versions(ctx context.Context, r string) ([]policy.PresetVersion, error)
	Public(ctx context.Context, r string) ([]PublicPreset, error)
}

// PresetRange is the range of a preset: the last two digits of its UUID.
func PresetRange(preset id.Preset) string {
	text := preset.UUID().String()
	return text[len(text)-2:]
}

// presets writes what was published of presets. Versions come first: what is
// public names one.
func (l *leader) presets(ctx context.Context, c Compiled) error {
	for _, v := range c.Presets {
		if _, err := l.write.PresetVersion(ctx, v); err != nil {
			return err
		}
		l.metrics.documents.Add(1)
	}
	for _, p := range c.Public {
		if _, err := l.write.PublicPreset(ctx, p.Handle, p.Slug, p.PublicPreset); err != nil {
			return err
		}
		l.metrics.documents.Add(1)
	}
	return nil
}

// samePresets is sameCount for the documents of presets.
func (l *leader) samePresets(ctx context.Context) (bool, error) {
	for _, kind := range []struct {
		filter string
		sums   func(context.Context) (Sums, error)
	}{{document.VersionFilter, l.d.Presets.VersionRanges}, {document.PublicFilter, l.d.Presets.PublicRanges}} {
		held, err := l.read.Count(ctx, wire.BucketPolicy, kind.filter)
		if err != nil {
			return false, err
		}
		known, err := kind.sums(ctx)
		if err != nil || int64(held) < known.documents() {
			return false, err
		}
	}
	return true, nil
}

// comparePresets is compareKeys for the documents of presets. Of a version the
// name is enough, since it never changes. It comes before the policies, whose
// pointers name versions.
func (l *leader) comparePresets(ctx context.Context) (surplus, error) {
	extra := surplus{bucket: wire.BucketPolicy, documents: make(map[string]uint64)}
	if err := l.compareVersions(ctx, &extra); err != nil {
		return extra, fmt.Errorf("versions: %w", err)
	}
	if err := l.comparePublic(ctx, &extra); err != nil {
		return extra, fmt.Errorf("public ones: %w", err)
	}
	return extra, nil
}

func (l *leader) compareVersions(ctx context.Context, extra *surplus) error {
	there, err := l.read.Names(ctx, wire.BucketPolicy, document.VersionFilter)
	if err != nil {
		return err
	}
	sums := make(Sums)
	unknown := make(map[string]string) // name to range, of what no database holds yet
	for name := range there {
		preset, number, ok := versionOf(name)
		if ok {
			sums.Add(PresetRange(preset), preset.UUID().String(), int64(number))
			unknown[name] = PresetRange(preset)
			continue
		}
		unknown[name] = ""
	}
	known, err := l.d.Presets.VersionRanges(ctx)
	if err != nil {
		return err
	}
	differ := sums.Differ(known)
	for name, r := range unknown {
		if r != "" && !differ[r] {
			delete(unknown, name)
		}
	}
	if err := l.healVersions(ctx, differ, there, unknown); err != nil {
		return err
	}
	extra.held += len(there)
	extra.known += known.documents()
	for name := range unknown {
		e, err := l.read.Leader(ctx, wire.BucketPolicy, name)
		switch {
		case err == nil:
			extra.documents[name] = e.Sequence
		case !errors.Is(err, document.ErrAbsent):
			return err
		}
	}
	return nil
}

// healVersions writes what NATS lacks of the differing ranges, and takes what
// the database knows out of unknown.
func (l *leader) healVersions(ctx context.Context, differ, there map[string]bool, unknown map[string]string) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(healers)
	for r := range differ {
		list, err := l.d.Presets.Versions(within, r)
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		for _, v := range list {
			name := wire.PresetVersion(v.Preset, v.Version)
			delete(unknown, name)
			if !there[name] {
				group.Go(func() error {
					_, err := l.write.PresetVersion(within, v)
					return l.healed(err)
				})
			}
		}
	}
	return group.Wait()
}

// versionOf takes the name of a version's document apart.
func versionOf(name string) (id.Preset, int, bool) {
	parts := strings.Split(name, ".")
	if len(parts) != 3 {
		return id.Preset{}, 0, false
	}
	preset, err := id.Parse[id.PresetKind](parts[1])
	if err != nil {
		return id.Preset{}, 0, false
	}
	number, err := strconv.Atoi(parts[2])
	return preset, number, err == nil && wire.PresetVersion(preset, number) == name
}

// heard is a public preset as NATS has it.
type heard struct {
	found
	preset id.Preset
}

func (l *leader) comparePublic(ctx context.Context, extra *surplus) error {
	there := make(map[string]heard)
	sums := make(Sums)
	err := l.read.Since(ctx, wire.BucketPolicy, document.PublicFilter, 0, func(e document.Entry) error {
		if e.Deleted {
			return nil
		}
		var d policy.PublicPreset
		if json.Unmarshal(e.Data, &d) != nil {
			d = policy.PublicPreset{Revision: -1} // differs from any
		}
		there[e.Key] = heard{found{d.Revision, e.Sequence}, d.Preset}
		sums.Add(PresetRange(d.Preset), d.Preset.UUID().String(), d.Revision)
		return nil
	})
	if err != nil {
		return err
	}
	known, err := l.d.Presets.PublicRanges(ctx)
	if err != nil {
		return err
	}
	extra.held += len(there)
	extra.known += known.documents()
	return l.healPublic(ctx, sums.Differ(known), there, extra)
}

func (l *leader) healPublic(ctx context.Context, differ map[string]bool, there map[string]heard, extra *surplus) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(healers)
	for name, at := range there {
		if differ[PresetRange(at.preset)] {
			extra.documents[name] = at.sequence
		}
	}
	for r := range differ {
		list, err := l.d.Presets.Public(within, r)
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		versions, err := l.d.Presets.Versions(within, r)
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		for _, p := range list {
			name := wire.PublicPreset(p.Handle, p.Slug)
			at, ok := there[name]
			delete(extra.documents, name)
			switch {
			case !ok || at.revision < p.Revision:
				group.Go(func() error { return l.putBack(within, p, versions) })
			case at.revision > p.Revision: // as of policies
				l.d.Log.Error("NATS is ahead of the database", slog.String("preset_id", p.Preset.String()), slog.Int64("published_revision", at.revision), slog.Int64("revision", p.Revision))
			}
		}
	}
	return group.Wait()
}

// putBack writes what a public preset names before it: either may have been
// committed since the versions were compared.
func (l *leader) putBack(ctx context.Context, p PublicPreset, versions []policy.PresetVersion) error {
	for _, v := range versions {
		if v.Preset == p.Preset && v.Version == p.Version {
			if _, err := l.write.PresetVersion(ctx, v); err != nil {
				return err
			}
		}
	}
	_, err := l.write.PublicPreset(ctx, p.Handle, p.Slug, p.PublicPreset)
	return l.healed(err)
}

// healed counts a document that was put back. One that NATS has in a later form
// by now needs nothing.
func (l *leader) healed(err error) error {
	if _, ahead := errors.AsType[*document.AheadError](err); ahead {
		return nil
	}
	if err == nil {
		l.metrics.healed.Add(1)
	}
	return err
}
