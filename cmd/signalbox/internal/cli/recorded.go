package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// A request is recorded a moment after its answer: the record goes through the
// gateway's spool and a stream before it can be read.
const (
	recordEvery = 250 * time.Millisecond
	recordAsks  = 13 // 3 s in all
)

// unrecorded is a well-formed request id that nothing is known of.
type unrecorded struct{ request string }

func (e unrecorded) Error() string {
	return fmt.Sprintf("there is no record of the request %s. %s", e.request, notYet)
}

const notYet = "It is not recorded (yet): a record comes within a second as a rule, and later from a gateway that lost its connection; " +
	"a request of another workspace is never found."

// log reads the record of one request, and waits for one that may be on its way.
func (a *app) log(ctx context.Context, api *client.ClientWithResponses, request string) (*client.GetLogResponse, error) {
	var r *client.GetLogResponse
	err := a.onceRecorded(ctx, request, func() (bool, error) {
		var err error
		r, err = api.GetLogWithResponse(ctx, request)
		err = done(r, err)
		var no refusal
		if errors.As(err, &no) && no.status == http.StatusNotFound && isID[id.RequestKind](request) {
			return false, nil
		}
		return true, err
	})
	return r, err
}

// onceRecorded asks until ask finds the request or the time is up.
func (a *app) onceRecorded(ctx context.Context, request string, ask func() (found bool, err error)) error {
	for n := 1; ; n++ {
		found, err := ask()
		if found || err != nil {
			return err
		}
		if n == recordAsks {
			return unrecorded{request}
		}
		if err := a.Wait(ctx, recordEvery); err != nil {
			return err
		}
	}
}

// wait is Deps.Wait of a process.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
