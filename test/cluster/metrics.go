package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

type obj = map[string]any

func serveMetricsDiscovery(w http.ResponseWriter, _ *http.Request) {
	verbs := []string{"get", "list"}
	writeJSON(w, obj{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "metrics.k8s.io/v1beta1", "resources": []obj{
		{"name": "nodes", "singularName": "", "namespaced": false, "kind": "NodeMetrics", "verbs": verbs},
		{"name": "pods", "singularName": "", "namespaced": true, "kind": "PodMetrics", "verbs": verbs},
	}})
}

func usage(p *v1.Pod) obj {
	return obj{
		"cpu":    cmp.Or(p.Annotations[annCPU], "10m"),
		"memory": cmp.Or(p.Annotations[annMemory], "16Mi"),
	}
}

func (k *kubelet) servePodMetrics(w http.ResponseWriter, r *http.Request) {
	sel, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	name := r.PathValue("name")
	all, _ := k.pods.Pods(r.PathValue("ns")).List(sel)
	items := []obj{}
	for _, p := range all {
		if p.Status.Phase != v1.PodRunning || (name != "" && p.Name != name) {
			continue
		}
		cs := []obj{}
		for _, c := range p.Spec.Containers {
			cs = append(cs, obj{"name": c.Name, "usage": usage(p)})
		}
		items = append(items, obj{"metadata": obj{"name": p.Name, "namespace": p.Namespace, "labels": p.Labels, "creationTimestamp": time.Now().UTC().Format(time.RFC3339)},
			"kind": "PodMetrics", "apiVersion": "metrics.k8s.io/v1beta1",
			"timestamp": time.Now().UTC().Format(time.RFC3339), "window": "15s", "containers": cs})
	}
	answer(w, name, "PodMetrics", items)
}

func (k *kubelet) serveNodeMetrics(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	items := []obj{}
	for i := range k.o.nodes {
		n := nodeName(i)
		if name != "" && n != name {
			continue
		}
		items = append(items, obj{"metadata": obj{"name": n, "creationTimestamp": time.Now().UTC().Format(time.RFC3339)},
			"kind": "NodeMetrics", "apiVersion": "metrics.k8s.io/v1beta1",
			"timestamp": time.Now().UTC().Format(time.RFC3339), "window": "15s", "usage": obj{"cpu": "500m", "memory": "1Gi"}})
	}
	answer(w, name, "NodeMetrics", items)
}

func answer(w http.ResponseWriter, name, kind string, items []obj) {
	if name == "" {
		writeJSON(w, obj{"kind": kind + "List", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": obj{}, "items": items})
		return
	}
	if len(items) == 1 {
		writeJSON(w, items[0])
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_ = json.NewEncoder(w).Encode(obj{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404,
		"message": fmt.Sprintf("%s %q not found", kind, name)})
}
