// forward accepts connections on an inherited listening socket and copies each to a TCP address.
// A listening socket keeps the network namespace it was made in: so the host's loopback leads into another namespace.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve() error {
	if len(os.Args) != 3 {
		return fmt.Errorf("usage: forward <number of the listening file descriptor> <host:port>")
	}
	descriptor, err := strconv.Atoi(os.Args[1])
	if err != nil {
		return err
	}
	listener, err := net.FileListener(os.NewFile(uintptr(descriptor), "listener"))
	if err != nil {
		return err
	}
	for {
		client, err := listener.Accept()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			time.Sleep(100 * time.Millisecond) // out of descriptors, most likely: some will be closed
			continue
		}
		go join(client.(*net.TCPConn), os.Args[2])
	}
}

func join(client *net.TCPConn, target string) {
	defer client.Close()
	connection, err := net.DialTimeout("tcp4", target, 10*time.Second)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	server := connection.(*net.TCPConn)
	defer server.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		copyHalf(server, client)
	}()
	copyHalf(client, server)
	<-done
}

// copyHalf copies one direction and hands on its end; the other direction may still have something to say.
func copyHalf(to, from *net.TCPConn) {
	_, err := io.Copy(to, from)
	if err != nil {
		to.Close()
		from.Close()
		return
	}
	to.CloseWrite()
}
