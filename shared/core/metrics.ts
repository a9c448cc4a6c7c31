/** Seconds by which an agent ran later than it was due, in CloudWatch: what its worker puts there, and an alarm watches. */
export const agentLagMetric = {
  namespace: 'Busdriver',
  metricName: 'AgentLag',
  /** Its value is the name of the worker's function, which tells installations apart. */
  dimension: 'FunctionName',
} as const;

/** Objects and applications of an account that are too large to be cached, in CloudWatch; told by agents that have such. */
export const tooLargeMetric = { ...agentLagMetric, metricName: 'TooLarge' } as const;
