// Command gcs is fake-gcs-server with what tests need of it: one port, and everything in memory. It writes its URL.
package main

import (
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/fsouza/fake-gcs-server/fakestorage"
)

func main() {
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{Host: "127.0.0.1", Scheme: "http"})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Stop()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM)
	fmt.Println(server.URL())
	<-ended
}
