await Probe.run()
