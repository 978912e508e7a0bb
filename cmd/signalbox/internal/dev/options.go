// Package dev owns `signalbox dev`: the whole platform in one process group
// with nothing to configure. It boots the same app packages as production and
// sets up, through the management API like anybody else, an owner, a workspace
// and a key. It knows nothing of how the parts work inside.
package dev

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
)

// Options are the flags of `signalbox dev`.
type Options struct {
	Data          string // folder of everything that is kept
	GatewayListen string // of the first gateway; the others take the ports after it
	ControlListen string
	NATSListen    string // "" serves NATS inside this process only
	Catalog       string // a catalog.yaml over the embedded default
	Gateways      int
	NoSimulator   bool
	LogLevel      string

	DatabaseURL string    // "" starts a private Postgres
	Version     string    // of this build
	Program     string    // how the person called it
	Out         io.Writer // for the person
	Log         io.Writer // for log lines
}

// Folder is the data folder that the command line finds by itself, in the
// folder that it is called in and those above.
const Folder = ".signalbox"

// Default are the options without any flag.
func Default() Options {
	return Options{
		Data:          Folder,
		GatewayListen: "127.0.0.1:8080",
		ControlListen: "127.0.0.1:8081",
		Gateways:      1,
		LogLevel:      "warn",
	}
}

// Validate reports everything that is wrong.
func (o Options) Validate() error {
	var problems []error
	if o.Data == "" {
		problems = append(problems, errors.New("--data: want a folder"))
	}
	if o.Gateways < 1 || o.Gateways > 50 {
		problems = append(problems, errors.New("--gateways: want 1 to 50"))
	}
	for flag, address := range map[string]string{"--gateway-listen": o.GatewayListen, "--control-listen": o.ControlListen} {
		if _, _, err := splitPort(address); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", flag, err))
		}
	}
	if o.NATSListen != "" {
		if _, _, err := splitPort(o.NATSListen); err != nil {
			problems = append(problems, fmt.Errorf("--nats-listen: %w", err))
		}
	}
	return errors.Join(problems...)
}

// gatewayAddresses are the listen addresses of all gateways: successive ports
// from the first, without the control plane's. Port 0 stays 0.
func (o Options) gatewayAddresses() ([]string, error) {
	host, port, err := splitPort(o.GatewayListen)
	if err != nil {
		return nil, err
	}
	_, control, err := splitPort(o.ControlListen)
	if err != nil {
		return nil, err
	}
	addresses := make([]string, 0, o.Gateways)
	for next := port; len(addresses) < o.Gateways; next++ {
		if port == 0 {
			next = 0
		} else if next == control {
			continue
		}
		if next > 65535 {
			return nil, fmt.Errorf("--gateways: %d gateways from port %d pass port 65535", o.Gateways, port)
		}
		addresses = append(addresses, net.JoinHostPort(host, strconv.Itoa(next)))
	}
	return addresses, nil
}

func splitPort(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, errors.New("want host:port, such as 127.0.0.1:8080")
	}
	port, err = strconv.Atoi(text)
	if err != nil || port < 0 || port > 65535 {
		return "", 0, errors.New("want a port from 0 to 65535")
	}
	return host, port, nil
}
