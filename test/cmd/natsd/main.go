// Command natsd is the embedded NATS server as a process of its own, for tests
// that kill it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/signalbox-dev/signalbox/shared/natsserver"
)

func main() {
	store := flag.String("store", "", "directory of the streams")
	listen := flag.String("listen", "127.0.0.1:0", "host:port")
	flag.Parse()
	if err := run(*store, *listen); err != nil {
		fmt.Fprintln(os.Stderr, "natsd:", err)
		os.Exit(1)
	}
}

func run(store, listen string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	srv, err := natsserver.Start(natsserver.Options{StoreDir: store, Listen: listen})
	if err != nil {
		return err
	}
	defer srv.Shutdown()
	fmt.Fprintln(os.Stderr, "natsd: ready at", srv.URL())
	<-ctx.Done()
	return nil
}
