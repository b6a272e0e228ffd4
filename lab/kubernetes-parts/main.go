// Package main puts the servers of a Kubernetes control plane and kubectl into one program, so that what they share is
// linked once. The name it is called by, a symbolic link, says which of them runs.
package main

import (
	"log"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	programs := map[string]func() int{
		"etcd":                    func() int { etcdmain.Main(os.Args); return 0 },
		"kube-apiserver":          func() int { return cli.Run(apiserver.NewAPIServerCommand()) },
		"kube-controller-manager": func() int { return cli.Run(controllermanager.NewControllerManagerCommand()) },
		"kube-scheduler":          func() int { return cli.Run(scheduler.NewSchedulerCommand()) },
		"kubectl":                 func() int { return cli.Run(kubectl.NewDefaultKubectlCommand()) },
	}
	name := filepath.Base(os.Args[0])
	run, known := programs[name]
	if !known {
		log.Fatalf("%s is none of the programs in here: call it by a link named after one of them", name)
	}
	os.Exit(run())
}
