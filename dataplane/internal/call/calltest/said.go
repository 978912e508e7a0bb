package calltest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
)

// frames are what who says: of each kind, empty and large.
func frames(who string) []call.Frame {
	out := []call.Frame{{Data: []byte{}}, {Data: []byte("\x00\xff\n")}, {Text: true, Data: []byte(`{}`)}}
	for i := range 50 {
		text := fmt.Sprintf(`{"from":%q,"n":%d,"text":"北京🙂é%s"}`, who, i, strings.Repeat("x", i*i*4))
		out = append(out, call.Frame{Text: i%3 > 0, Data: []byte(text)})
	}
	return out
}

// say sends frames, whose memory it then uses for something else.
func say(ctx context.Context, to call.Frames, frames []call.Frame) error {
	for _, f := range frames {
		if err := to.Send(ctx, f); err != nil {
			return err
		}
		for i := range f.Data {
			f.Data[i] = '#'
		}
	}
	return nil
}

func hear(ctx context.Context, from call.Frames, n int) ([]call.Frame, error) {
	var out []call.Frame
	for range n {
		f, err := from.Receive(ctx)
		if err != nil {
			return out, err
		}
		out = append(out, call.Frame{Text: f.Text, Data: append([]byte{}, f.Data...)})
	}
	return out, nil
}

// closeBoth ends both sides, each of which waits a little for the other.
func closeBoth(side, other call.Frames) {
	var ended sync.WaitGroup
	ended.Go(func() { other.End(call.Complete) })
	side.End(call.Complete)
	ended.Wait()
}
