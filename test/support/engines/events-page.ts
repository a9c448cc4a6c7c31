/** Gets the events that an EventBridge of tests took, oldest first. @param since only those after this number */
export async function getEventsPage(endpoint: string, since = 0): Promise<unknown> {
  const answer = await fetch(new URL(`/events?since=${since}`, endpoint));
  if (answer.status !== 200) throw new Error(`GET /events: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
