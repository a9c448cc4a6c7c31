/** Seconds by which an agent ran later than it was due, in CloudWatch: what its worker puts there, and an alarm watches. */
export const agentLagMetric = {
  namespace: 'Busdriver',
  metricName: 'AgentLag',
  /** Its value is the name of the worker's function, which tells installations apart. */
  dimension: 'FunctionName',
} as const;
