import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * Runs DynamoDB Local in memory on a free port of 127.0.0.1, says which, and ends with its standard input: whoever
 * started it holds the other end, so it outlives nobody. Its own main program would listen on every interface.
 */
class Engine {
  public static void main(String[] args) throws Exception {
    var proxy = ServerRunner.createServerFromCommandLineArgs(new String[] {"-inMemory", "-disableTelemetry"});
    var field = DynamoDBProxyServer.class.getDeclaredField("server");
    field.setAccessible(true);
    var connector = (ServerConnector) ((Server) field.get(proxy)).getConnectors()[0];
    connector.setHost("127.0.0.1");
    connector.setPort(0);
    proxy.start();
    System.out.println("port " + connector.getLocalPort());
    while (System.in.read() >= 0) {}
    Runtime.getRuntime().halt(0);
  }
}
