import type { ProtobufDescriptor } from '#agents/protocol/grpc/codec.ts';

/** Full name of the service by which callers ask whether another one serves. */
export const healthService = 'grpc.health.v1.Health';

/** Full names of the service by which callers learn what there is, newest first: tools ask for either. */
export const reflectionServices = [
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
] as const;

/** The health protocol of gRPC. */
export const healthDescriptor: ProtobufDescriptor = nest('grpc.health.v1', {
  Health: {
    methods: {
      Check: { requestType: 'HealthCheckRequest', responseType: 'HealthCheckResponse' },
      Watch: {
        ...{ requestType: 'HealthCheckRequest', responseType: 'HealthCheckResponse' },
        responseStream: true,
      },
    },
  },
  HealthCheckRequest: { fields: { service: { type: 'string', id: 1 } } },
  HealthCheckResponse: {
    fields: { status: { type: 'ServingStatus', id: 1 } },
    nested: {
      ServingStatus: { values: { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } },
    },
  },
});

/** The reflection protocol of gRPC, whose versions differ by their name alone. */
export const reflectionDescriptors: readonly ProtobufDescriptor[] = reflectionServices.map((service) =>
  nest(service.slice(0, service.lastIndexOf('.')), {
    ServerReflection: {
      methods: {
        ServerReflectionInfo: {
          ...{ requestType: 'ServerReflectionRequest', requestStream: true },
          ...{ responseType: 'ServerReflectionResponse', responseStream: true },
        },
      },
    },
    ServerReflectionRequest: {
      oneofs: {
        messageRequest: {
          oneof: [
            ...['file_by_filename', 'file_containing_symbol', 'file_containing_extension'],
            ...['all_extension_numbers_of_type', 'list_services'],
          ],
        },
      },
      fields: {
        host: { type: 'string', id: 1 },
        file_by_filename: { type: 'string', id: 3 },
        file_containing_symbol: { type: 'string', id: 4 },
        file_containing_extension: { type: 'ExtensionRequest', id: 5 },
        all_extension_numbers_of_type: { type: 'string', id: 6 },
        list_services: { type: 'string', id: 7 },
      },
    },
    ExtensionRequest: {
      fields: {
        containing_type: { type: 'string', id: 1 },
        extension_number: { type: 'int32', id: 2 },
      },
    },
    ServerReflectionResponse: {
      oneofs: {
        messageResponse: {
          oneof: [
            ...['file_descriptor_response', 'all_extension_numbers_response'],
            ...['list_services_response', 'error_response'],
          ],
        },
      },
      fields: {
        valid_host: { type: 'string', id: 1 },
        original_request: { type: 'ServerReflectionRequest', id: 2 },
        file_descriptor_response: { type: 'FileDescriptorResponse', id: 4 },
        all_extension_numbers_response: { type: 'ExtensionNumberResponse', id: 5 },
        list_services_response: { type: 'ListServiceResponse', id: 6 },
        error_response: { type: 'ErrorResponse', id: 7 },
      },
    },
    FileDescriptorResponse: {
      fields: { file_descriptor_proto: { rule: 'repeated', type: 'bytes', id: 1 } },
    },
    ExtensionNumberResponse: {
      fields: {
        base_type_name: { type: 'string', id: 1 },
        extension_number: { rule: 'repeated', type: 'int32', id: 2 },
      },
    },
    ListServiceResponse: {
      fields: { service: { rule: 'repeated', type: 'ServiceResponse', id: 1 } },
    },
    ServiceResponse: { fields: { name: { type: 'string', id: 1 } } },
    ErrorResponse: {
      fields: { error_code: { type: 'int32', id: 1 }, error_message: { type: 'string', id: 2 } },
    },
  }),
);

function nest(packageName: string, types: object): ProtobufDescriptor {
  return packageName
    .split('.')
    .reduceRight<ProtobufDescriptor>((nested, name) => ({ nested: { [name]: nested } }), { nested: types });
}
