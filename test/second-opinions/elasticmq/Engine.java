import org.elasticmq.rest.sqs.SQSRestServerBuilder;

/**
 * Runs ElasticMQ on a free port of 127.0.0.1, says which, and ends with its standard input: whoever started it holds
 * the other end, so it outlives nobody.
 */
class Engine {
  public static void main(String[] args) throws Exception {
    var server = SQSRestServerBuilder.withInterface("127.0.0.1").withDynamicPort().start();
    System.out.println("port " + server.waitUntilStarted().localAddress().getPort());
    while (System.in.read() >= 0) {}
    Runtime.getRuntime().halt(0);
  }
}
