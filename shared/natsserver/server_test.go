package natsserver_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/natsserver"
)

func TestAnOccupiedAddressIsNamed(t *testing.T) {
	occupied, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = occupied.Close() }()
	address := occupied.Addr().String()
	_, err = natsserver.Start(natsserver.Options{StoreDir: t.TempDir(), Listen: address})
	require.ErrorContains(t, err, "address already in use: "+address)
}
