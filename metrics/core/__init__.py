"""The definition of a metric and its computation: contract, parameters, registry, truth, evaluation, uncertainty."""
