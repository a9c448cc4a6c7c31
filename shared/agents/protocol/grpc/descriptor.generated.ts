/** Made from docs/agent/busdriver-agent-v1.proto: see schema.test.ts. */
export const descriptor = {
  "nested": {
    "busdriver": {
      "nested": {
        "agent": {
          "nested": {
            "v1": {
              "options": {
                "java_multiple_files": true,
                "java_package": "io.busdriver.agent.v1",
                "go_package": "busdriver.io/agent/v1;agentv1"
              },
              "nested": {
                "Sessions": {
                  "methods": {
                    "Open": {
                      "requestType": "Hello",
                      "responseType": "Welcome"
                    },
                    "Renew": {
                      "requestType": "Renewal",
                      "responseType": "Welcome"
                    },
                    "Close": {
                      "requestType": "SessionRef",
                      "responseType": "Done"
                    },
                    "ListWork": {
                      "requestType": "SessionRef",
                      "responseType": "WorkList"
                    },
                    "Watch": {
                      "requestType": "SessionRef",
                      "responseType": "Work",
                      "responseStream": true
                    }
                  }
                },
                "Tasks": {
                  "methods": {
                    "Take": {
                      "requestType": "TakeTask",
                      "responseType": "LeasedTask"
                    },
                    "Renew": {
                      "requestType": "TaskLease",
                      "responseType": "Done"
                    },
                    "Commit": {
                      "requestType": "TaskCommit",
                      "responseType": "LeaseRef"
                    }
                  }
                },
                "Caching": {
                  "methods": {
                    "Claim": {
                      "requestType": "ClaimCache",
                      "responseType": "ClaimedCache"
                    },
                    "Progress": {
                      "requestType": "CacheProgress",
                      "responseType": "KeptCache"
                    },
                    "GetEpoch": {
                      "requestType": "AccountRef",
                      "responseType": "EpochAnswer"
                    },
                    "RaiseEpoch": {
                      "requestType": "NewEpoch",
                      "responseType": "EpochAnswer"
                    },
                    "ListHeads": {
                      "requestType": "HeadsQuery",
                      "responseType": "HeadsPage"
                    },
                    "Write": {
                      "requestType": "Changes",
                      "responseType": "ChangesOutcome"
                    },
                    "Prune": {
                      "requestType": "Prunes",
                      "responseType": "Applications"
                    }
                  }
                },
                "Reads": {
                  "methods": {
                    "Take": {
                      "requestType": "ReadRef",
                      "responseType": "ReadRequest"
                    },
                    "Answer": {
                      "requestType": "ReadAnswer",
                      "requestStream": true,
                      "responseType": "Done"
                    }
                  }
                },
                "Hello": {
                  "oneofs": {
                    "_zone": {
                      "oneof": [
                        "zone"
                      ]
                    }
                  },
                  "fields": {
                    "agent_id": {
                      "type": "string",
                      "id": 1
                    },
                    "version": {
                      "type": "string",
                      "id": 2
                    },
                    "protocol": {
                      "type": "uint32",
                      "id": 3
                    },
                    "journal_format": {
                      "type": "uint32",
                      "id": 4
                    },
                    "zone": {
                      "type": "string",
                      "id": 5,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "accounts": {
                      "rule": "repeated",
                      "type": "AccountHello",
                      "id": 6
                    }
                  }
                },
                "AccountHello": {
                  "oneofs": {
                    "_kube_host": {
                      "oneof": [
                        "kube_host"
                      ]
                    },
                    "_cert_fingerprint": {
                      "oneof": [
                        "cert_fingerprint"
                      ]
                    },
                    "_kube_version": {
                      "oneof": [
                        "kube_version"
                      ]
                    },
                    "_cluster_uid": {
                      "oneof": [
                        "cluster_uid"
                      ]
                    }
                  },
                  "fields": {
                    "name": {
                      "type": "string",
                      "id": 1
                    },
                    "kube_host": {
                      "type": "string",
                      "id": 2,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "cert_fingerprint": {
                      "type": "string",
                      "id": 3,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "kube_version": {
                      "type": "string",
                      "id": 4,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "cluster_uid": {
                      "type": "string",
                      "id": 5,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "namespaces": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 6
                    }
                  }
                },
                "SessionRef": {
                  "fields": {
                    "session": {
                      "type": "string",
                      "id": 1
                    }
                  }
                },
                "Renewal": {
                  "oneofs": {
                    "_load": {
                      "oneof": [
                        "load"
                      ]
                    }
                  },
                  "fields": {
                    "session": {
                      "type": "string",
                      "id": 1
                    },
                    "journal_format": {
                      "type": "uint32",
                      "id": 2
                    },
                    "warnings": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 3
                    },
                    "load": {
                      "type": "AgentLoad",
                      "id": 4,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "AgentLoad": {
                  "fields": {
                    "tasks": {
                      "type": "uint32",
                      "id": 1
                    },
                    "reads": {
                      "type": "uint32",
                      "id": 2
                    }
                  }
                },
                "Welcome": {
                  "oneofs": {
                    "_hint_url": {
                      "oneof": [
                        "hint_url"
                      ]
                    }
                  },
                  "fields": {
                    "session": {
                      "type": "string",
                      "id": 1
                    },
                    "token": {
                      "type": "string",
                      "id": 2
                    },
                    "expires_ms": {
                      "type": "int64",
                      "id": 3
                    },
                    "hint_url": {
                      "type": "string",
                      "id": 4,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "accounts": {
                      "rule": "repeated",
                      "type": "AccountGrant",
                      "id": 5
                    },
                    "limits": {
                      "type": "Limits",
                      "id": 6
                    },
                    "server_ms": {
                      "type": "int64",
                      "id": 7
                    }
                  }
                },
                "AccountGrant": {
                  "oneofs": {
                    "_refused": {
                      "oneof": [
                        "refused"
                      ]
                    },
                    "_definition": {
                      "oneof": [
                        "definition"
                      ]
                    }
                  },
                  "fields": {
                    "name": {
                      "type": "string",
                      "id": 1
                    },
                    "operations": {
                      "type": "bool",
                      "id": 2
                    },
                    "caching": {
                      "type": "bool",
                      "id": 3
                    },
                    "refused": {
                      "type": "string",
                      "id": 4,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "definition": {
                      "type": "string",
                      "id": 5,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "Limits": {
                  "oneofs": {
                    "_reads": {
                      "oneof": [
                        "reads"
                      ]
                    },
                    "_poll_connected_ms": {
                      "oneof": [
                        "poll_connected_ms"
                      ]
                    },
                    "_return_ms": {
                      "oneof": [
                        "return_ms"
                      ]
                    },
                    "_spread_ms": {
                      "oneof": [
                        "spread_ms"
                      ]
                    }
                  },
                  "fields": {
                    "tasks": {
                      "type": "uint32",
                      "id": 1
                    },
                    "reads": {
                      "type": "uint32",
                      "id": 2,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "poll_idle_ms": {
                      "type": "uint32",
                      "id": 6
                    },
                    "poll_busy_ms": {
                      "type": "uint32",
                      "id": 7
                    },
                    "account_tasks": {
                      "type": "uint32",
                      "id": 8
                    },
                    "poll_connected_ms": {
                      "type": "uint32",
                      "id": 9,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "return_ms": {
                      "type": "uint32",
                      "id": 10,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "spread_ms": {
                      "type": "uint32",
                      "id": 11,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "WorkList": {
                  "oneofs": {
                    "_return_ms": {
                      "oneof": [
                        "return_ms"
                      ]
                    },
                    "_spread_ms": {
                      "oneof": [
                        "spread_ms"
                      ]
                    }
                  },
                  "fields": {
                    "work": {
                      "rule": "repeated",
                      "type": "Work",
                      "id": 1
                    },
                    "return_ms": {
                      "type": "uint32",
                      "id": 2,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "spread_ms": {
                      "type": "uint32",
                      "id": 3,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "Work": {
                  "fields": {
                    "kind": {
                      "type": "Kind",
                      "id": 1
                    },
                    "account": {
                      "type": "string",
                      "id": 2
                    },
                    "id": {
                      "type": "string",
                      "id": 3
                    }
                  },
                  "nested": {
                    "Kind": {
                      "values": {
                        "KIND_UNSPECIFIED": 0,
                        "TASK": 1,
                        "READ": 2,
                        "REFRESH": 3,
                        "ACCOUNTS": 4,
                        "CLOSE": 5
                      }
                    }
                  }
                },
                "TakeTask": {
                  "fields": {
                    "task": {
                      "type": "string",
                      "id": 1
                    },
                    "owner": {
                      "type": "string",
                      "id": 2
                    },
                    "attempts": {
                      "type": "uint32",
                      "id": 3
                    }
                  }
                },
                "LeaseRef": {
                  "fields": {
                    "fence": {
                      "type": "int64",
                      "id": 1
                    },
                    "sequence": {
                      "type": "uint32",
                      "id": 2
                    }
                  }
                },
                "LeasedTask": {
                  "oneofs": {
                    "_hands_over": {
                      "oneof": [
                        "hands_over"
                      ]
                    },
                    "_puts_down": {
                      "oneof": [
                        "puts_down"
                      ]
                    }
                  },
                  "fields": {
                    "lease": {
                      "type": "LeaseRef",
                      "id": 1
                    },
                    "id": {
                      "type": "string",
                      "id": 2
                    },
                    "account": {
                      "type": "string",
                      "id": 3
                    },
                    "run": {
                      "type": "uint32",
                      "id": 4
                    },
                    "attempts": {
                      "type": "uint32",
                      "id": 5
                    },
                    "accepted_at_ms": {
                      "type": "int64",
                      "id": 6
                    },
                    "caller": {
                      "keyType": "string",
                      "type": "string",
                      "id": 7
                    },
                    "wait_ms": {
                      "type": "int64",
                      "id": 8
                    },
                    "operations": {
                      "type": "string",
                      "id": 9
                    },
                    "journal": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 10
                    },
                    "hands_over": {
                      "type": "bool",
                      "id": 11,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "puts_down": {
                      "type": "bool",
                      "id": 12,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "TaskLease": {
                  "fields": {
                    "task": {
                      "type": "string",
                      "id": 1
                    },
                    "fence": {
                      "type": "int64",
                      "id": 2
                    },
                    "sequence": {
                      "type": "uint32",
                      "id": 3
                    }
                  }
                },
                "TaskCommit": {
                  "oneofs": {
                    "_look_seconds": {
                      "oneof": [
                        "look_seconds"
                      ]
                    }
                  },
                  "fields": {
                    "task": {
                      "type": "string",
                      "id": 1
                    },
                    "lease": {
                      "type": "LeaseRef",
                      "id": 2
                    },
                    "next": {
                      "type": "string",
                      "id": 3
                    },
                    "entries": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 4
                    },
                    "look_seconds": {
                      "type": "uint32",
                      "id": 5,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "ReadRef": {
                  "fields": {
                    "read": {
                      "type": "string",
                      "id": 1
                    }
                  }
                },
                "ReadRequest": {
                  "fields": {
                    "id": {
                      "type": "string",
                      "id": 1
                    },
                    "account": {
                      "type": "string",
                      "id": 2
                    },
                    "method": {
                      "type": "string",
                      "id": 3
                    },
                    "args": {
                      "type": "string",
                      "id": 4
                    },
                    "take": {
                      "type": "uint32",
                      "id": 5
                    },
                    "wait_ms": {
                      "type": "int64",
                      "id": 6
                    }
                  }
                },
                "ReadAnswer": {
                  "oneofs": {
                    "_failure": {
                      "oneof": [
                        "failure"
                      ]
                    }
                  },
                  "fields": {
                    "read": {
                      "type": "string",
                      "id": 1
                    },
                    "take": {
                      "type": "uint32",
                      "id": 2
                    },
                    "part": {
                      "type": "uint32",
                      "id": 3
                    },
                    "last": {
                      "type": "bool",
                      "id": 4
                    },
                    "data": {
                      "type": "bytes",
                      "id": 5
                    },
                    "failure": {
                      "type": "ReadFailure",
                      "id": 6,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "ReadFailure": {
                  "fields": {
                    "name": {
                      "type": "string",
                      "id": 1
                    },
                    "message": {
                      "type": "string",
                      "id": 2
                    },
                    "errors": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 3
                    }
                  }
                },
                "Done": {
                  "fields": {}
                },
                "Refusal": {
                  "oneofs": {
                    "_reason": {
                      "oneof": [
                        "reason"
                      ]
                    },
                    "_next_run_ms": {
                      "oneof": [
                        "next_run_ms"
                      ]
                    }
                  },
                  "fields": {
                    "status": {
                      "type": "uint32",
                      "id": 1
                    },
                    "message": {
                      "type": "string",
                      "id": 2
                    },
                    "reason": {
                      "type": "string",
                      "id": 3,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "errors": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 4
                    },
                    "next_run_ms": {
                      "type": "int64",
                      "id": 5,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "Operation": {
                  "fields": {
                    "id": {
                      "type": "string",
                      "id": 1
                    },
                    "account": {
                      "type": "string",
                      "id": 2
                    },
                    "type": {
                      "type": "string",
                      "id": 3
                    },
                    "task_id": {
                      "type": "string",
                      "id": 4
                    },
                    "kind": {
                      "type": "string",
                      "id": 5
                    },
                    "accepted_ms": {
                      "type": "int64",
                      "id": 6
                    },
                    "deadline_ms": {
                      "type": "int64",
                      "id": 7
                    }
                  }
                },
                "OperationResult": {
                  "fields": {
                    "id": {
                      "type": "string",
                      "id": 1
                    },
                    "account": {
                      "type": "string",
                      "id": 2
                    },
                    "task_id": {
                      "type": "string",
                      "id": 3
                    },
                    "status": {
                      "type": "uint32",
                      "id": 4
                    },
                    "outcome": {
                      "type": "string",
                      "id": 5
                    },
                    "duration_ms": {
                      "type": "int64",
                      "id": 6
                    },
                    "agent_id": {
                      "type": "string",
                      "id": 7
                    }
                  }
                },
                "ClaimCache": {
                  "oneofs": {
                    "_asked_ms": {
                      "oneof": [
                        "asked_ms"
                      ]
                    }
                  },
                  "fields": {
                    "account": {
                      "type": "string",
                      "id": 1
                    },
                    "agent": {
                      "type": "string",
                      "id": 2
                    },
                    "asked_ms": {
                      "type": "int64",
                      "id": 3,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "CacheLease": {
                  "fields": {
                    "fence": {
                      "type": "int64",
                      "id": 1
                    },
                    "turn": {
                      "type": "int64",
                      "id": 2
                    },
                    "started_ms": {
                      "type": "int64",
                      "id": 3
                    },
                    "lag_ms": {
                      "type": "int64",
                      "id": 4
                    },
                    "used_ms": {
                      "type": "int64",
                      "id": 5
                    },
                    "state_writes": {
                      "type": "int64",
                      "id": 6
                    },
                    "has_chunks": {
                      "type": "bool",
                      "id": 7
                    }
                  }
                },
                "ClaimedCache": {
                  "oneofs": {
                    "_state": {
                      "oneof": [
                        "state"
                      ]
                    }
                  },
                  "fields": {
                    "lease": {
                      "type": "CacheLease",
                      "id": 1
                    },
                    "agent": {
                      "type": "CacheAgent",
                      "id": 2
                    },
                    "state": {
                      "type": "string",
                      "id": 3,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "CacheAgent": {
                  "oneofs": {
                    "_as_of_ms": {
                      "oneof": [
                        "as_of_ms"
                      ]
                    }
                  },
                  "fields": {
                    "interval_ms": {
                      "type": "int64",
                      "id": 1
                    },
                    "failures": {
                      "type": "uint32",
                      "id": 2
                    },
                    "items": {
                      "type": "uint32",
                      "id": 3
                    },
                    "has_run": {
                      "type": "bool",
                      "id": 4
                    },
                    "as_of_ms": {
                      "type": "int64",
                      "id": 5,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "CacheProgress": {
                  "oneofs": {
                    "_state": {
                      "oneof": [
                        "state"
                      ]
                    },
                    "_progress": {
                      "oneof": [
                        "progress"
                      ]
                    },
                    "_end": {
                      "oneof": [
                        "end"
                      ]
                    }
                  },
                  "fields": {
                    "account": {
                      "type": "string",
                      "id": 1
                    },
                    "agent": {
                      "type": "string",
                      "id": 2
                    },
                    "lease": {
                      "type": "CacheLease",
                      "id": 3
                    },
                    "state": {
                      "type": "string",
                      "id": 4,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "progress": {
                      "type": "CacheState",
                      "id": 5,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "end": {
                      "type": "CacheEnd",
                      "id": 6,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "CacheState": {
                  "oneofs": {
                    "_as_of_ms": {
                      "oneof": [
                        "as_of_ms"
                      ]
                    },
                    "_drift": {
                      "oneof": [
                        "drift"
                      ]
                    },
                    "_details": {
                      "oneof": [
                        "details"
                      ]
                    }
                  },
                  "fields": {
                    "items": {
                      "type": "uint32",
                      "id": 1
                    },
                    "changes": {
                      "type": "int64",
                      "id": 2
                    },
                    "as_of_ms": {
                      "type": "int64",
                      "id": 3,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "drift": {
                      "type": "uint32",
                      "id": 4,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "details": {
                      "type": "string",
                      "id": 5,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "CacheEnd": {
                  "oneofs": {
                    "_error": {
                      "oneof": [
                        "error"
                      ]
                    }
                  },
                  "fields": {
                    "outcome": {
                      "type": "string",
                      "id": 1
                    },
                    "duration_ms": {
                      "type": "int64",
                      "id": 2
                    },
                    "next_run_in_ms": {
                      "type": "int64",
                      "id": 3
                    },
                    "error": {
                      "type": "string",
                      "id": 4,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "KeptCache": {
                  "oneofs": {
                    "_failures": {
                      "oneof": [
                        "failures"
                      ]
                    }
                  },
                  "fields": {
                    "lease": {
                      "type": "CacheLease",
                      "id": 1
                    },
                    "failures": {
                      "type": "uint32",
                      "id": 2,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "AccountRef": {
                  "fields": {
                    "account": {
                      "type": "string",
                      "id": 1
                    }
                  }
                },
                "NewEpoch": {
                  "fields": {
                    "account": {
                      "type": "string",
                      "id": 1
                    },
                    "epoch": {
                      "type": "uint32",
                      "id": 2
                    },
                    "cluster": {
                      "type": "string",
                      "id": 3
                    }
                  }
                },
                "Epoch": {
                  "oneofs": {
                    "_compare_ms": {
                      "oneof": [
                        "compare_ms"
                      ]
                    }
                  },
                  "fields": {
                    "epoch": {
                      "type": "uint32",
                      "id": 1
                    },
                    "cluster": {
                      "type": "string",
                      "id": 2
                    },
                    "compare_ms": {
                      "type": "int64",
                      "id": 3,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "EpochAnswer": {
                  "oneofs": {
                    "_current": {
                      "oneof": [
                        "current"
                      ]
                    }
                  },
                  "fields": {
                    "current": {
                      "type": "Epoch",
                      "id": 1,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "kinds": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 2
                    }
                  }
                },
                "HeadsQuery": {
                  "oneofs": {
                    "_namespace": {
                      "oneof": [
                        "namespace"
                      ]
                    },
                    "_name": {
                      "oneof": [
                        "name"
                      ]
                    },
                    "_with_gone": {
                      "oneof": [
                        "with_gone"
                      ]
                    },
                    "_page": {
                      "oneof": [
                        "page"
                      ]
                    }
                  },
                  "fields": {
                    "account": {
                      "type": "string",
                      "id": 1
                    },
                    "kind": {
                      "type": "string",
                      "id": 2
                    },
                    "namespace": {
                      "type": "string",
                      "id": 3,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "name": {
                      "type": "string",
                      "id": 4,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "with_gone": {
                      "type": "bool",
                      "id": 5,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "page": {
                      "type": "string",
                      "id": 6,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "HeadsPage": {
                  "oneofs": {
                    "_next": {
                      "oneof": [
                        "next"
                      ]
                    }
                  },
                  "fields": {
                    "heads": {
                      "rule": "repeated",
                      "type": "Head",
                      "id": 1
                    },
                    "next": {
                      "type": "string",
                      "id": 2,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "Head": {
                  "oneofs": {
                    "_gone": {
                      "oneof": [
                        "gone"
                      ]
                    },
                    "_facts": {
                      "oneof": [
                        "facts"
                      ]
                    }
                  },
                  "fields": {
                    "namespace": {
                      "type": "string",
                      "id": 1
                    },
                    "name": {
                      "type": "string",
                      "id": 2
                    },
                    "epoch": {
                      "type": "uint32",
                      "id": 3
                    },
                    "version": {
                      "type": "string",
                      "id": 4
                    },
                    "gone": {
                      "type": "bool",
                      "id": 5,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "facts": {
                      "type": "string",
                      "id": 6,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "Changes": {
                  "fields": {
                    "account": {
                      "type": "string",
                      "id": 1
                    },
                    "epoch": {
                      "type": "uint32",
                      "id": 2
                    },
                    "changes": {
                      "rule": "repeated",
                      "type": "Change",
                      "id": 3
                    }
                  }
                },
                "Change": {
                  "oneofs": {
                    "_epoch": {
                      "oneof": [
                        "epoch"
                      ]
                    },
                    "_seen_version": {
                      "oneof": [
                        "seen_version"
                      ]
                    },
                    "_facts": {
                      "oneof": [
                        "facts"
                      ]
                    }
                  },
                  "fields": {
                    "kind": {
                      "type": "string",
                      "id": 1
                    },
                    "namespace": {
                      "type": "string",
                      "id": 2
                    },
                    "name": {
                      "type": "string",
                      "id": 3
                    },
                    "epoch": {
                      "type": "uint32",
                      "id": 4,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "version": {
                      "type": "string",
                      "id": 5
                    },
                    "seen_version": {
                      "type": "string",
                      "id": 6,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "facts": {
                      "type": "string",
                      "id": 7,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "ChangesOutcome": {
                  "oneofs": {
                    "_proof": {
                      "oneof": [
                        "proof"
                      ]
                    }
                  },
                  "fields": {
                    "changes": {
                      "type": "uint32",
                      "id": 1
                    },
                    "waiting": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 2
                    },
                    "dropped": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 3
                    },
                    "proof": {
                      "type": "string",
                      "id": 4,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "Prunes": {
                  "fields": {
                    "account": {
                      "type": "string",
                      "id": 1
                    },
                    "applications": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 2
                    }
                  }
                },
                "Applications": {
                  "fields": {
                    "applications": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 1
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  }
};
