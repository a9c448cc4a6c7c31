package main

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// poll calls f until it returns nil; the last error is reported on timeout.
func (c *cluster) poll(ctx context.Context, what string, limit time.Duration, f func(context.Context) error) error {
	deadline := time.Now().Add(limit)
	for {
		callCtx, cancel := context.WithTimeout(ctx, 10*time.Second)
		err := f(callCtx)
		cancel()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: not after %s: %w", what, limit, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: interrupted: %w", what, err)
		case ferr := <-c.failed:
			return ferr
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (c *cluster) waitAPI(ctx context.Context, cs kubernetes.Interface) error {
	return c.poll(ctx, "kube-apiserver /readyz", 2*time.Minute, func(ctx context.Context) error {
		return cs.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
}

// waitCluster waits until a pod created now would run.
func (c *cluster) waitCluster(ctx context.Context, cs kubernetes.Interface) error {
	return c.poll(ctx, "cluster", 2*time.Minute, func(ctx context.Context) error {
		if !c.o.noCM {
			if err := checkControllerManager(ctx, cs); err != nil {
				return err
			}
		}
		if c.o.noKubelet {
			return nil
		}
		// Until this answers, discovery is incomplete and namespace deletion stalls.
		if err := cs.Discovery().RESTClient().Get().AbsPath("/apis/metrics.k8s.io/v1beta1").Do(ctx).Error(); err != nil {
			return err
		}
		return checkNodes(ctx, cs, c.o.nodes)
	})
}

// checkControllerManager fails until the default namespace has what every pod needs.
func checkControllerManager(ctx context.Context, cs kubernetes.Interface) error {
	if _, err := cs.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{}); err != nil {
		return err
	}
	_, err := cs.CoreV1().ConfigMaps("default").Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
	return err
}

// checkNodes fails until want nodes take pods.
func checkNodes(ctx context.Context, cs kubernetes.Interface, want int) error {
	l, err := cs.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	ready := 0
	for _, n := range l.Items {
		for _, cond := range n.Status.Conditions {
			if cond.Type == v1.NodeReady && cond.Status == v1.ConditionTrue && len(n.Spec.Taints) == 0 {
				ready++
			}
		}
	}
	if ready < want {
		return fmt.Errorf("%d of %d nodes ready", ready, want)
	}
	return nil
}
